import type { ConnectionOptions } from 'node:tls'
import { type Clock, systemClock } from '@helix-agents/core'

/** How {@link PostgresDatabase} connects. */
export interface PostgresDatabaseOptions {
  /** Connections at most, besides the one that listens. Default: 10. */
  readonly maxConnections?: number
  /** How long a call waits for a connection, in milliseconds. Default: 10 000. */
  readonly connectTimeoutMs?: number
  /** How long a statement may take, in milliseconds. Default: 30 000. */
  readonly statementTimeoutMs?: number
  /**
   * How long a call goes on while the server cannot be reached, restarts or is read-only, in
   * milliseconds; then it fails as `unavailable`. Default: 15 000.
   */
  readonly reconnectTimeoutMs?: number
  /**
   * Whether a connection listens for the writes of other processes. `false` behind a transaction
   * pooler, such as PgBouncer in that mode: nothing that outlives a transaction is used then, and
   * readers of streams poll. Default: true.
   */
  readonly listen?: boolean
  /**
   * How often readers that wait look for writes of other processes, in milliseconds. Default: 100; 1 000
   * while a connection listens, for a notification that was lost.
   */
  readonly pollMs?: number
  /**
   * Whose time decides when the lease of a run begins and ends: that of the server, which is the same
   * for all processes, or that of the caller. Default: `server`.
   */
  readonly leaseClock?: 'server' | 'caller'
  /** TLS, besides what the URL says about it. Default: as the URL says. */
  readonly tls?: ConnectionOptions
  /** Time for waiting and for what is stored as such. Default: the time of the machine. */
  readonly clock?: Clock
}

/** The options with their defaults. */
export type PostgresSettings = Required<Omit<PostgresDatabaseOptions, 'tls'>> &
  Pick<PostgresDatabaseOptions, 'tls'>

/** @throws {RangeError} for a number that cannot be used. */
export function parseOptions(options: PostgresDatabaseOptions): PostgresSettings {
  const { listen = true, leaseClock = 'server', clock = systemClock, tls } = options
  if (leaseClock !== 'server' && leaseClock !== 'caller') {
    throw new RangeError(`leaseClock must be server or caller, not ${String(leaseClock)}`)
  }
  return {
    maxConnections: whole(options, 'maxConnections', 10),
    connectTimeoutMs: whole(options, 'connectTimeoutMs', 10_000),
    statementTimeoutMs: whole(options, 'statementTimeoutMs', 30_000),
    reconnectTimeoutMs: whole(options, 'reconnectTimeoutMs', 15_000),
    pollMs: whole(options, 'pollMs', listen ? 1000 : 100),
    listen,
    leaseClock,
    clock,
    ...(tls !== undefined && { tls }),
  }
}

type NumberOption = {
  [Name in keyof PostgresDatabaseOptions]-?: number extends PostgresDatabaseOptions[Name]
    ? Name
    : never
}[keyof PostgresDatabaseOptions]

function whole(options: PostgresDatabaseOptions, name: NumberOption, fallback: number): number {
  const value = options[name] ?? fallback
  if (Number.isSafeInteger(value) && value >= 1 && value <= 2 ** 31 - 1) return value
  throw new RangeError(`${name} must be a whole number of at least 1, not ${value}`)
}
