import type { WorkspaceModules } from '../modules/list.ts'
import type { WorkspaceRef } from './ref.ts'

/** How far a workspace is kept from its host. `none`: its commands can do what the host can. */
export type Isolation = 'none' | 'process' | 'isolate' | 'container'

/**
 * How the processes of commands are held, where they are processes of this host. `namespace`: they
 * see and reach no process of the host, and the kernel ends all of them with their command. `scan`:
 * they are found among those of the host, which they can see with its environment; one that hides
 * well enough outlives its command.
 */
export type Containment = 'namespace' | 'scan'

/** A live handle on one workspace, with its modules: `fs`, `shell`, `code`, `snapshot`. */
export interface Workspace extends WorkspaceModules {
  readonly id: string
  readonly isolation: Isolation
  /** Absent where commands do not run on this host. */
  readonly containment?: Containment
  /** Processes and threads that one command may have at once; absent without such a limit. */
  readonly maxProcesses?: number
  /** The directory that the shell sees as the workspace root. */
  readonly shellRoot?: string
  /**
   * A ref that replaces the stored one, set where what is stored changed since the open, such as
   * the last snapshot. It is stored before the result of an operation counts.
   */
  readonly changedRef?: WorkspaceRef | undefined
  /** Releases handles and keeps the storage: pause, interrupt, shutdown. */
  detach?(): Promise<void>
  /** End of session: the provider's end-of-life policy. Closing twice does nothing. */
  close(): Promise<void>
}
