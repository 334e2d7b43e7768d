import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/**
 * `capacity-exhausted`: as many sandboxes as allowed exist. `invalid-transition`: the sandbox is
 * not in a state for this. `unknown-sandbox`: the ledger has no such id. `already-exists`: a live
 * sandbox has this id. `invalid-record`: an id or a label that cannot be used. `invalid-query`: a
 * limit, a filter or a cursor that cannot be used. `conflict`: another writer was first.
 * `lease-lost`: another sweeper took over. `breaker-open`: the provider failed so often that it is
 * left alone for a while. `driver-failed`: the provider did not do what was asked.
 * `not-supported`: the driver of this provider cannot do this. `operation-timeout`: an operation
 * took too long and its sandbox was ended. `unavailable`: the ledger did not answer. `corrupt`:
 * what it holds cannot be read. `schema-version`: another release made its tables.
 * `config-invalid`: an option that cannot be used.
 */
export type FleetErrorCode =
  | 'capacity-exhausted'
  | 'invalid-transition'
  | 'unknown-sandbox'
  | 'already-exists'
  | 'invalid-record'
  | 'invalid-query'
  | 'conflict'
  | 'lease-lost'
  | 'breaker-open'
  | 'driver-failed'
  | 'not-supported'
  | 'operation-timeout'
  | 'unavailable'
  | 'corrupt'
  | 'schema-version'
  | 'config-invalid'

/** Options of `FleetError`. */
export interface FleetErrorOptions extends HelixErrorOptions {
  /** The sandbox it is about. */
  readonly sandboxId?: string
}

const TRANSIENT: ReadonlySet<FleetErrorCode> = new Set<FleetErrorCode>([
  'capacity-exhausted',
  'conflict',
  'lease-lost',
  'breaker-open',
  'driver-failed',
  'unavailable',
])

/** The fleet of sandboxes could not do what was asked. */
export class FleetError extends HelixError {
  override readonly name = 'FleetError'
  readonly code: FleetErrorCode
  readonly transient: boolean
  /** Empty when it is about no sandbox in particular. */
  readonly sandboxId: string

  constructor(code: FleetErrorCode, message: string, options: FleetErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.transient = TRANSIENT.has(code)
    this.sandboxId = options.sandboxId ?? ''
  }

  static override isInstance(value: unknown): value is FleetError {
    return HelixError.isInstance(value) && value.name === 'FleetError'
  }
}
