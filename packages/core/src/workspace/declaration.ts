import type {
  Capabilities,
  CapabilitiesInput,
  ModuleName,
  WorkspaceModules,
} from '../modules/list.ts'
import type { ProviderSelection } from './ref.ts'
import type { Workspace } from './workspace.ts'

/**
 * When the files of a workspace are kept, so that they can go back with the conversation. `step`: with
 * every step that changed them.
 */
export interface HistoryPolicy {
  readonly on: 'step'
  /** Snapshots that are kept; older checkpoints lose theirs, and say so. Default: 50. */
  readonly keep: number
  /** Age after which a snapshot may be evicted, in milliseconds; the newest stays. Default: no limit. */
  readonly maxAgeMs?: number
}

/** A history policy, as an agent declares it. */
export type HistoryInput =
  | 'step'
  | (Pick<HistoryPolicy, 'on'> & Partial<Pick<HistoryPolicy, 'keep' | 'maxAgeMs'>>)

/** What to do when the backend of a workspace is gone for good. */
export type OnLost = 'reopen' | 'fail'

/** One workspace, as an agent declares it. */
export interface WorkspaceConfig {
  /** Where the workspace lives. */
  readonly provider: ProviderSelection
  /** The modules that the model gets tools for: `true` for the defaults, an object for policy. */
  readonly capabilities: CapabilitiesInput
  /**
   * `reopen`: opens a fresh workspace and gives the model one notice. `fail`: fails, for agents whose
   * files must not be replaced silently. Default: `reopen`.
   */
  readonly onLost?: OnLost
  /**
   * `'step'` keeps the files with the checkpoint of every step that changed them: a session can go
   * back with its files. Its provider must offer `snapshot`. An object sets limits. Default: no history.
   */
  readonly history?: HistoryInput
}

/** The workspaces of an agent by name: `[a-z][a-z0-9-_]*`. */
export type WorkspaceConfigs = Readonly<Record<string, WorkspaceConfig>>

/** A workspace declaration with its defaults filled in. */
export interface WorkspaceDeclaration {
  readonly name: string
  readonly provider: ProviderSelection
  readonly capabilities: Capabilities
  readonly onLost: OnLost
  /** Absent: no history. */
  readonly history?: HistoryPolicy
  /** `provider` is where the session was moved to, not what the agent declares. */
  readonly isMoved?: boolean
}

/** Names of the modules that are certainly declared: neither absent nor perhaps `false`. */
type DeclaredModules<TCapabilities> = {
  [N in keyof TCapabilities]-?: undefined extends TCapabilities[N]
    ? never
    : false extends TCapabilities[N]
      ? never
      : N
}[keyof TCapabilities] &
  ModuleName

/** A live workspace in which the modules that the declaration names are present. */
export type LiveWorkspace<TConfig extends WorkspaceConfig = WorkspaceConfig> = Workspace &
  Required<Pick<WorkspaceModules, DeclaredModules<TConfig['capabilities']>>>
