import { FleetError, type FleetErrorCode } from '@helix-agents/core/runtime'

/**
 * The answer of a `FleetDirectory`. A rejection of the ledger is an answer too: an exception of a
 * Durable Object is logged as a defect, and loses its class.
 */
export type FleetReply<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly code: FleetErrorCode
      readonly message: string
      readonly sandboxId: string
    }

/** Anything but a `FleetError` stays an exception. */
export async function toReply<T>(work: () => Promise<T>): Promise<FleetReply<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (error) {
    if (!FleetError.isInstance(error)) throw error
    const { code, message, sandboxId } = error
    return { ok: false, code, message, sandboxId }
  }
}

/** @throws {FleetError} the rejection of the ledger. */
export function fromReply<T>(reply: FleetReply<T>): T {
  if (reply.ok) return reply.value
  const { code, message, sandboxId } = reply
  throw new FleetError(code, message, { sandboxId })
}
