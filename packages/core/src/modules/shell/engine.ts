import type { FileSystemError } from '../../errors/file-system-error.ts'
import type { Logger } from '../../logging/logger.ts'
import type { Clock } from '../../time/clock.ts'
import type { FileSystem } from '../fs/contract.ts'
import type { Shell } from './contract.ts'

/** The file operations of a command. */
export type CommandFiles = Pick<
  FileSystem,
  | 'readFile'
  | 'writeFile'
  | 'appendFile'
  | 'ls'
  | 'stat'
  | 'mkdir'
  | 'rm'
  | 'copy'
  | 'move'
  | 'grep'
>

/** A change of a command that could not be stored with the others. */
export interface RejectedChange {
  readonly path: string
  readonly error: FileSystemError
}

/**
 * The files of one command. Small changes may be gathered; the command sees them, and others see them
 * from `commit` on. The provider may commit earlier.
 */
export interface CommandBatch {
  readonly files: CommandFiles
  /**
   * Stores what was gathered, all of it in one transaction. What another writer has made impossible
   * meanwhile is left out and returned.
   */
  commit(): Promise<readonly RejectedChange[]>
}

/** What a shell engine gets of one workspace. */
export interface ShellEngineHost {
  /** The files that commands see, without policy. Bounds of the provider hold: sizes, quotas. */
  readonly files: FileSystem
  /**
   * Starts the batch of one command; the engine commits it when the command waits for something else,
   * and when it has ended, however it ended. Undefined: each change is stored by itself.
   */
  readonly startBatch?: () => CommandBatch
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
