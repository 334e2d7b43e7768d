import { type Clock, type Logger, WorkspaceFailedError } from '@helix-agents/core'
import type { Containment } from '@helix-agents/core/provider'
import type { LocalBashIsolation } from './config.ts'
import { MIN_PROCESSES } from './shell/namespace/process-limit.ts'
import type { LocalBashSnapshotOptions } from './snapshots/local-snapshots.ts'

/** Options of a `LocalBashWorkspaceProvider`. */
export interface LocalBashWorkspaceProviderOptions {
  /** Where workspaces are made. Default: the temporary directory of the system. */
  readonly tmpdirRoot?: string
  /** Isolation of declarations that set none. Default `none`. */
  readonly isolation?: LocalBashIsolation
  /**
   * How the processes of commands are held with isolation `none`. `namespace`: each command has a
   * namespace of its own; an open fails where the host allows none. `scan`: they are found
   * among those of the host, and can read the environment of its processes. Default `auto`:
   * `namespace` where the host allows it, else `scan`.
   */
  readonly containment?: Containment | 'auto'
  /**
   * Variables of the host that commands get; `*` at the end stands for anything. Default `PATH`,
   * `LANG`, `LC_*` and `TZ`. `HOME` and `TMPDIR` are always those of the workspace.
   */
  readonly passEnv?: readonly string[]
  /** Log of operations. Default: that of the executor. */
  readonly logger?: Logger
  /** Time, for tests. Default: that of the executor. */
  readonly clock?: Clock
  /** Workspaces of this provider that may be opening at once. Default: no bound. */
  readonly maxGlobalConcurrentOpens?: number
  /**
   * Commands of all workspaces of this provider that run at once; the others wait in order, and the
   * time of a command begins when it starts. Background processes do not count. Default: 8 for
   * each core, 16 at least.
   */
  readonly maxConcurrentCommands?: number
  /**
   * Processes and threads that one command may have at once, 301 or more: a fork bomb gets no
   * further, and ends with its command. In force where commands have a namespace, as a normal user
   * from Linux 5.14 on, as root from 6.14 on and not with `bubblewrap`; `describe()` shows it.
   * Default 2,048.
   */
  readonly maxProcesses?: number
  /** Timeout of commands that set none, in milliseconds. Default 120,000. */
  readonly defaultTimeoutMs?: number
  /** Bytes of each output that a command returns when it sets no limit. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Bytes of one output that are stored when it is longer than that. Default 2 GiB. */
  readonly maxStoredOutputBytes?: number
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default 250. */
  readonly killGraceMs?: number
  /** Where snapshots are stored, and how many of them. Default: beside the workspaces, the last 16. */
  readonly snapshots?: LocalBashSnapshotOptions
  /** Platform, for tests. Default: that of the process. */
  readonly platform?: NodeJS.Platform
}

/** @throws {WorkspaceFailedError} `config-invalid`, for the first number that is out of range. */
export function assertProviderOptions(options: LocalBashWorkspaceProviderOptions): void {
  const { maxProcesses = MIN_PROCESSES, maxConcurrentCommands = 1, snapshots = {} } = options
  if (!Number.isInteger(maxProcesses) || maxProcesses < MIN_PROCESSES) {
    throw invalid(`maxProcesses must be a whole number of ${MIN_PROCESSES} or more`)
  }
  if (!(maxConcurrentCommands >= 1)) throw invalid('maxConcurrentCommands must be 1 or more')
  assertSnapshotOptions(snapshots)
}

function assertSnapshotOptions({ maxSnapshots = 1, maxBytes = 1 }: LocalBashSnapshotOptions): void {
  if (Number.isInteger(maxSnapshots) && maxSnapshots >= 1 && maxBytes > 0) return
  throw invalid(
    'snapshots.maxSnapshots must be a whole number of 1 or more, snapshots.maxBytes positive',
  )
}

function invalid(problem: string): WorkspaceFailedError {
  return new WorkspaceFailedError('config-invalid', problem)
}
