// What drivers answer is code of others, and so are the platforms behind them: nothing of it is
// used before it is validated.
import { redactText } from '@helix-agents/telemetry/redact'
import * as z from 'zod'
import { shortText, timeSchema } from '../ledger/record-schema.ts'
import type { ListedSandbox, ProbeState, SandboxListing, SandboxProbe } from './fleet-driver.ts'

const PROBE_STATES = [
  'starting',
  'running',
  'stopping',
  'stopped',
  'absent',
  'unknown',
] as const satisfies readonly ProbeState[]

const probeSchema = z.object({
  state: z.enum(PROBE_STATES),
  ownerAlive: z.boolean().nullish(),
  isDetached: z.boolean().nullish(),
  detail: z.string().nullish().catch(undefined),
})

const listingSchema = z.object({ isComplete: z.boolean(), sandboxes: z.array(z.unknown()) })

/** A field that is not valid counts as absent. */
const listedSchema = z.object({
  id: z.string(),
  environment: z.string().optional().catch(undefined),
  createdAt: timeSchema.optional().catch(undefined),
  ownerAlive: z.boolean().optional().catch(undefined),
  isDetached: z.boolean().optional().catch(undefined),
})

/** The answer to `inspect`; one without a usable state is `unknown`. */
export function parseProbe(value: unknown): SandboxProbe {
  const result = probeSchema.safeParse(value)
  if (!result.success) return { state: 'unknown', detail: 'the answer of its driver has no state' }
  const { detail, isDetached, ownerAlive, state } = result.data
  return {
    state,
    ...(typeof ownerAlive === 'boolean' && { ownerAlive }),
    ...(typeof isDetached === 'boolean' && { isDetached }),
    ...(typeof detail === 'string' && { detail: shortText(redactText(detail)) }),
  }
}

/** The answer to `list`; undefined when it is none. Entries without an id have an empty one. */
export function parseListing(value: unknown): SandboxListing | undefined {
  const result = listingSchema.safeParse(value)
  if (!result.success) return undefined
  const { isComplete, sandboxes } = result.data
  return { isComplete, sandboxes: sandboxes.map(parseListed) }
}

function parseListed(value: unknown): ListedSandbox {
  const result = listedSchema.safeParse(value)
  if (!result.success) return { id: '' }
  const { createdAt, environment, id, isDetached, ownerAlive } = result.data
  return {
    id,
    ...(environment !== undefined && { environment }),
    ...(createdAt !== undefined && { createdAt }),
    ...(ownerAlive !== undefined && { ownerAlive }),
    ...(isDetached !== undefined && { isDetached }),
  }
}
