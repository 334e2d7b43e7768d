import type { Logger } from '../../logging/logger.ts'
import type { Clock } from '../../time/clock.ts'
import type { FileSystem } from '../fs/contract.ts'
import type { CodeInterpreter } from './contract.ts'

/** What a code engine gets of one workspace. */
export interface CodeEngineHost {
  /** The files that code sees, without policy. Bounds of the provider hold: sizes, quotas. */
  readonly files: FileSystem
  readonly clock: Clock
  readonly logger: Logger
}

/** The interpreter of one workspace, as an engine made it. */
export interface EngineCode extends CodeInterpreter {
  /** Ends what runs and every context; the files stay. Twice does nothing. */
  close(): Promise<void>
}

/**
 * Runs code over the files of a workspace that has no processes of its own. Providers of such
 * workspaces accept one as an option and then offer `code`.
 */
export interface CodeEngine {
  /** Names the engine in logs and in the documentation. */
  readonly name: string
  /** For the model: what runs the code, what is missing there, and what to do instead. */
  readonly toolNote: string
  /** Makes the interpreter of one workspace. Cheap: what costs is loaded with the first run. */
  open(host: CodeEngineHost): EngineCode
}
