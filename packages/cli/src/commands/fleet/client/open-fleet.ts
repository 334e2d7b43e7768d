import { CommandError } from '../../../command-error.ts'
import type { CliHost } from '../../../cli-host.ts'
import { exitCodes } from '../../../exit-codes.ts'
import { addressOf, FleetClient, type SendFleetCall } from './fleet-client.ts'
import { openLedgerClient } from './ledger-client.ts'
import { readToken } from './read-token.ts'

/** Which fleet is meant, and as whom. */
export interface FleetFlags {
  readonly url?: string
  readonly tokenFile?: string
  readonly timeout: number
}

/** The same where a ledger on this machine will do. */
export interface LedgerFlags extends FleetFlags {
  readonly db?: string
  readonly environment?: string
}

/**
 * Opens a fleet for one piece of work and closes it again.
 * @throws {CommandError}
 */
export async function withFleet<T>(
  host: CliHost,
  flags: LedgerFlags,
  work: (fleet: FleetClient) => Promise<T>,
): Promise<T> {
  if (flags.db === undefined) return work(await connect(host, flags))
  if (flags.url !== undefined) throw usage('give --url or --db, not both')
  const ledger = await openLedgerClient(host, { file: flags.db, environment: flags.environment })
  try {
    return await work(ledger.client)
  } finally {
    await ledger.close()
  }
}

/** A fleet behind its HTTP API. @throws {CommandError} */
export async function connect(host: CliHost, flags: LedgerFlags): Promise<FleetClient> {
  if (flags.environment !== undefined) throw usage('--environment is for --db')
  const url = parseUrl(flags.url ?? host.env.HELIX_FLEET_URL ?? '')
  const token = await readToken(host, flags.tokenFile)
  const headers = {
    accept: 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const startDeadline = (): AbortSignal => AbortSignal.timeout(flags.timeout)
  const send: SendFleetCall = async (call, signal = startDeadline()) =>
    host.fetch(addressOf(url, call), {
      method: call.method ?? 'GET',
      headers,
      // A redirect could lead the token astray.
      redirect: 'manual',
      signal,
    })
  return new FleetClient(`${url.origin}${url.pathname}`, send, startDeadline)
}

function parseUrl(text: string): URL {
  if (text === '') throw usage('which fleet? --url or $HELIX_FLEET_URL names one')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw usage('the address of the fleet must start with http:// or https://')
  }
  if (url.username !== '' || url.password !== '') {
    throw usage('the address must not hold a password: use $HELIX_FLEET_TOKEN')
  }
  return url
}

function usage(message: string): CommandError {
  return new CommandError(exitCodes.usage, message)
}
