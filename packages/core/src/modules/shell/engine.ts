import type { Logger } from '../../logging/logger.ts'
import type { Clock } from '../../time/clock.ts'
import type { FileSystem } from '../fs/contract.ts'
import type { Shell } from './contract.ts'

/** What a shell engine gets of one workspace. */
export interface ShellEngineHost {
  /** The files that commands see, without policy. Bounds of the provider hold: sizes, quotas. */
  readonly files: FileSystem
  readonly clock: Clock
  readonly logger: Logger
}

/** The shell of one workspace, as an engine made it. */
export interface EngineShell extends Shell {
  /** The directory that commands see as the workspace root. */
  readonly root: string
  /** Ends what runs; the files stay. Afterwards `run` rejects with `closed`. Twice does nothing. */
  close(): Promise<void>
}

/**
 * Runs commands over the files of a workspace that has no processes of its own. Providers of such
 * workspaces accept one as an option and then offer `shell`.
 */
export interface ShellEngine {
  /** Names the engine in logs and in the documentation. */
  readonly name: string
  /** For the model: what runs the commands, what is missing there, and what to do instead. */
  readonly toolNote: string
  /** Makes the shell of one workspace. Cheap: what costs is loaded with the first command. */
  open(host: ShellEngineHost): EngineShell
}
