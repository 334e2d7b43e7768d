/** A sandbox as a driver is told of it. Only what the ledger knows is ever asked about. */
export interface SandboxTarget {
  readonly id: string
  /** Counts how often a sandbox of this id was made, for drivers that can refuse an older one. */
  readonly generation: number
}

/**
 * `absent`: the provider, which knows all of its sandboxes, has no such one. `stopped`: it is known
 * and uses nothing. `unknown`: it cannot be told, which never counts as gone.
 */
export type ProbeState = 'starting' | 'running' | 'stopping' | 'stopped' | 'absent' | 'unknown'

/** What a provider tells of one sandbox. */
export interface SandboxProbe {
  readonly state: ProbeState
  /** Whether the process that uses it runs, where that can be told. */
  readonly ownerAlive?: boolean
  /** It was let go and waits for its session, where that can be told. */
  readonly isDetached?: boolean
  /** For the operator. */
  readonly detail?: string
}

/** A sandbox that a provider lists. */
export interface ListedSandbox {
  readonly id: string
  /** Deployment it belongs to; one that is not known is never ended. */
  readonly environment?: string
  /** Milliseconds since the epoch. */
  readonly createdAt?: number
  /** Whether the process that uses it runs, where that is known. */
  readonly ownerAlive?: boolean
  /** It was let go at `createdAt`, or was last held then, and waits for its session. */
  readonly isDetached?: boolean
}

/** What a provider has. */
export interface SandboxListing {
  /** False when some may be missing: nothing is concluded from such a list. */
  readonly isComplete: boolean
  readonly sandboxes: readonly ListedSandbox[]
}

/** What a sandbox uses at this moment. */
export interface SandboxResources {
  /** Of one core. */
  readonly cpuPercent: number
  /** In MiB. */
  readonly memoryMb: number
}

/** Options of each driver call. */
export interface DriverCallOptions {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/**
 * What the fleet needs from a provider of sandboxes. No call may start a sandbox, and each may be
 * repeated. None may keep one awake, but for `resources` with `isMeasuredOnRequest`.
 */
export interface FleetDriver {
  /** Key of its sandboxes in the ledger. */
  readonly provider: string
  /**
   * Asking for `resources` counts as a use of the sandbox: only an operator does, and no pass.
   * Default false.
   */
  readonly isMeasuredOnRequest?: boolean
  /** Everything the provider has. Absent where it cannot tell. */
  list?(options: DriverCallOptions): Promise<SandboxListing>
  /** The state of one sandbox. Must not create or wake it. */
  inspect(target: SandboxTarget, options: DriverCallOptions): Promise<SandboxProbe>
  /**
   * Destroys it; nothing to do when it is gone. That this resolves proves nothing: the fleet asks
   * `inspect` whether it is gone.
   */
  terminate(target: SandboxTarget, options: DriverCallOptions): Promise<void>
  /** The last output of its commands, as text. */
  logs?(target: SandboxTarget, options: DriverCallOptions): Promise<string>
  /** CPU and memory at this moment. */
  resources?(target: SandboxTarget, options: DriverCallOptions): Promise<SandboxResources>
}
