import {
  type Clock,
  type Logger,
  WorkspaceEvictedError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import {
  createOpenLimit,
  type OpenLimit,
  type WorkspaceCapabilityFlags,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import { DriverError } from '../driver/driver-error.ts'
import type { SandboxDriver } from '../driver/port.ts'
import { toWorkspaceError } from './map-error.ts'
import { type SandboxRef, type StoredSnapshot, toRef } from '../ref.ts'
import { isRootSuspect, recoverRoot, rootReplaced } from './root-recovery.ts'

/** How often the time in the ref is renewed while the sandbox is used. */
const SEEN_INTERVAL_MS = 300_000
/** File operations of one workspace that are under way at once. */
const MAX_FILE_CALLS = 16

export interface LiveSandboxParts {
  readonly driver: SandboxDriver
  readonly ref: SandboxRef
  readonly capabilities: WorkspaceCapabilityFlags
  readonly clock: Clock
  readonly logger: Logger
  /** Time of a call that has none of its own, in milliseconds. */
  readonly callTimeoutMs: number
}

export interface CallOptions {
  /** Of the workspace, for errors about a file. Default `/`. */
  readonly path?: string
  /** Default: `callTimeoutMs`. `Infinity`: the call watches its own time. */
  readonly timeoutMs?: number
}

/** Calls on the files of a sandbox. */
export interface FileCalls {
  call<T>(run: (driver: WithFiles) => Promise<T>, options?: CallOptions): Promise<T>
  callFile<T>(path: string, run: (driver: WithFiles) => Promise<T>): Promise<T>
}

type WithFiles = Pick<SandboxDriver, 'files'>

function withoutLinks({ files }: WithFiles): WithFiles {
  return { files: files.withoutLinks() }
}

/**
 * A sandbox that the modules of a workspace share: every call to it passes here, where errors get
 * their meaning, silence an end, and the ref its changes.
 */
export class LiveSandbox {
  readonly clock: Clock
  readonly logger: Logger
  readonly #parts: LiveSandboxParts
  readonly #fileLimit: OpenLimit = createOpenLimit(MAX_FILE_CALLS)
  #ref: SandboxRef
  #changed: WorkspaceRef | undefined
  #isClosed = false

  constructor(parts: LiveSandboxParts) {
    this.#parts = parts
    this.#ref = parts.ref
    this.clock = parts.clock
    this.logger = parts.logger
  }

  /** What is stored of it now. */
  get ref(): SandboxRef {
    return this.#ref
  }

  /** Set once something changed since it was opened. */
  get changedRef(): WorkspaceRef | undefined {
    return this.#changed
  }

  /** For connecting and ending, which no error mapping may come between. */
  get driver(): SandboxDriver {
    return this.#parts.driver
  }

  /** Runs a call of the driver. @throws {HelixError} whatever the driver throws. */
  async call<T>(run: (driver: SandboxDriver) => Promise<T>, options: CallOptions = {}): Promise<T> {
    this.#assertOpen()
    try {
      return await this.#callRecovering(run, options)
    } catch (error) {
      throw toWorkspaceError(error, options.path)
    }
  }

  /** The same for a file operation; a storm of them waits its turn here, not in the container. */
  callFile<T>(path: string, run: (driver: SandboxDriver) => Promise<T>): Promise<T> {
    this.#assertOpen()
    return this.#fileLimit(() => this.call(run, { path }))
  }

  /** Whether links and permissions can be asked for. */
  get hasAttributes(): boolean {
    return this.driver.files.attributes !== undefined
  }

  /** The same for paths without links. */
  withoutLinks(): FileCalls {
    return {
      call: (run, options) => this.call((driver) => run(withoutLinks(driver)), options),
      callFile: (path, run) => this.callFile(path, (driver) => run(withoutLinks(driver))),
    }
  }

  /**
   * A command reports which container ran it. Another one than that of the ref is a cold one, in
   * which the command has run by now.
   * @throws {WorkspaceEvictedError} `evicted`.
   */
  assertEpoch(epoch: string | null): void {
    if (epoch === null || epoch === this.#ref.epoch) return
    throw new WorkspaceEvictedError('the container was replaced')
  }

  /** A later resolve of a cold container goes back to this one. */
  recordSnapshot(snapshot: StoredSnapshot): void {
    this.#change({ snapshot })
  }

  /** All later calls fail with `closed`. */
  close(): void {
    this.#isClosed = true
  }

  /** When the root of the workspace is gone, it is made again, and what did not run is run. */
  async #callRecovering<T>(
    run: (driver: SandboxDriver) => Promise<T>,
    options: CallOptions,
  ): Promise<T> {
    try {
      return await this.#callOnce(run, options)
    } catch (error) {
      if (!isRootSuspect(error)) throw error
      const { isMade, keptAs } = await recoverRoot(this.driver)
      if (keptAs !== undefined) throw rootReplaced(keptAs, error)
      if (!isMade || error.admitted !== 'no') throw error
      return this.#callOnce(run, options)
    }
  }

  async #callOnce<T>(
    run: (driver: SandboxDriver) => Promise<T>,
    { timeoutMs = this.#parts.callTimeoutMs }: CallOptions,
  ): Promise<T> {
    const result = await this.#withinTime(run(this.driver), timeoutMs)
    this.#recordSeen()
    return result
  }

  #assertOpen(): void {
    if (!this.#isClosed) return
    throw new WorkspaceFailedError('closed', 'the workspace is closed')
  }

  #recordSeen(): void {
    const now = this.clock.now()
    if (now - this.#ref.seenMs >= SEEN_INTERVAL_MS) this.#change({ seenMs: now })
  }

  #change(changes: Partial<SandboxRef>): void {
    this.#ref = { ...this.#ref, ...changes }
    this.#changed = toRef(this.#ref, this.#parts.capabilities)
  }

  async #withinTime<T>(call: Promise<T>, timeoutMs: number): Promise<T> {
    if (timeoutMs === Number.POSITIVE_INFINITY) return call
    const overrun = Promise.withResolvers<never>()
    const cancel = this.clock.setTimer(timeoutMs, () => {
      overrun.reject(new DriverError('interrupted', 'no answer', { admitted: 'unknown' }))
    })
    try {
      return await Promise.race([call, overrun.promise])
    } finally {
      cancel()
    }
  }
}
