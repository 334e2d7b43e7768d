import { FleetError } from '@helix-agents/core/runtime'
import type { CliHost, OpenedLedger } from '../../../cli-host.ts'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { addressOf, FleetClient } from './fleet-client.ts'
import { readOnlyStore } from './read-only-store.ts'

/** The API of a fleet over a ledger on this machine, without its providers. */
export interface LedgerClient {
  readonly client: FleetClient
  readonly close: () => Promise<void> | void
}

interface LedgerChoice {
  readonly file: string
  readonly environment: string | undefined
}

/** A ledger does not say how many its deployment allows: alerts are not to be derived from it. */
const UNKNOWN_CAPACITY = { maxConcurrentSandboxes: Number.MAX_SAFE_INTEGER }

const HERE = new URL('http://localhost')

/** @throws {CommandError} when the ledger cannot be read. */
export async function openLedgerClient(
  host: CliHost,
  { file, environment }: LedgerChoice,
): Promise<LedgerClient> {
  const { createFleetApp, Fleet } = await import('@helix-agents/sandbox-fleet')
  const ledger = await open(host, file)
  try {
    const store = readOnlyStore(ledger.store)
    const label = environment ?? (await newestEnvironment(ledger))
    const { clock } = host
    const fleet = new Fleet({
      store,
      drivers: [],
      environment: label,
      clock,
      policy: UNKNOWN_CAPACITY,
    })
    const adminToken = crypto.randomUUID()
    const app = createFleetApp({ fleet, adminToken, clock })
    const headers = { authorization: `Bearer ${adminToken}` }
    const client = new FleetClient(file, async (call) =>
      app.request(addressOf(HERE, call), { method: call.method ?? 'GET', headers }),
    )
    return { client, close: () => ledger.close() }
  } catch (error) {
    await ledger.close()
    throw toCommandError(error, file)
  }
}

async function open(host: CliHost, file: string): Promise<OpenedLedger> {
  try {
    return await host.openLedger(file)
  } catch (error) {
    throw toCommandError(error, file)
  }
}

/** Default environment: that of the newest record. */
async function newestEnvironment({ store }: OpenedLedger): Promise<string> {
  const { records } = await store.list({ limit: 1 })
  return records[0]?.environment ?? 'production'
}

function toCommandError(error: unknown, file: string): unknown {
  if (!FleetError.isInstance(error)) return error
  const { message, code, hint } = error
  const text = `${file}: ${message} (${code})${hint === undefined ? '' : `\n${hint}`}`
  const exitCode = code === 'corrupt' ? exitCodes.findings : exitCodes.unreachable
  return new CommandError(exitCode, text, { cause: error })
}
