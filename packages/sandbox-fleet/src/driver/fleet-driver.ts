/** The sandbox of a driver call. Drivers are called for sandboxes of the ledger only. */
export interface SandboxTarget {
  readonly id: string
  /** Counts the sandboxes created under this id, for drivers that can reject an older one. */
  readonly generation: number
}

/**
 * `absent`: the provider, which knows all of its sandboxes, has no such one. `stopped`: it is known
 * and uses nothing. `unknown` never counts as gone.
 */
export type ProbeState = 'starting' | 'running' | 'stopping' | 'stopped' | 'absent' | 'unknown'

/** State of one sandbox at its provider. */
export interface SandboxProbe {
  readonly state: ProbeState
  /** Whether the process that uses it runs. Absent where that is not known. */
  readonly ownerAlive?: boolean
  /** It is detached and waits for its session. Absent where that is not known. */
  readonly isDetached?: boolean
  /** Explanation for the operator; redacted and shortened. */
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
  /** It is detached since `createdAt`, or was last held then, and waits for its session. */
  readonly isDetached?: boolean
}

/** The sandboxes of a provider. */
export interface SandboxListing {
  /** False when some may be missing: nothing is concluded from such a list. */
  readonly isComplete: boolean
  readonly sandboxes: readonly ListedSandbox[]
}

/** CPU and memory of a sandbox at one moment. */
export interface SandboxResources {
  /** Percent of one core. */
  readonly cpuPercent: number
  /** Memory in MiB. */
  readonly memoryMb: number
}

/** Options of each driver call. */
export interface DriverCallOptions {
  /** Aborts when the call has timed out. */
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
  /** All sandboxes of the provider. Absent where it cannot list them. */
  list?(options: DriverCallOptions): Promise<SandboxListing>
  /** The state of one sandbox. Must not create or wake it. */
  inspect(target: SandboxTarget, options: DriverCallOptions): Promise<SandboxProbe>
  /**
   * Destroys it; does nothing when it is gone. Resolving proves nothing: the fleet confirms with
   * `inspect`.
   */
  terminate(target: SandboxTarget, options: DriverCallOptions): Promise<void>
  /** The last output of its commands, as text. */
  logs?(target: SandboxTarget, options: DriverCallOptions): Promise<string>
  /** CPU and memory at this moment. */
  resources?(target: SandboxTarget, options: DriverCallOptions): Promise<SandboxResources>
}
