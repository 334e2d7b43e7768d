import type { Clock, Logger } from '@helix-agents/core'
import {
  type Containment,
  type Isolation,
  logMessages,
  type Snapshotter,
  type Workspace,
} from '@helix-agents/core/provider'
import type { LocalCodeInterpreter } from './code/local-code-interpreter.ts'
import { detachedMarker, isOwnedBy, type OwnerMarker, writeOwner } from './owner.ts'
import { holdersOf } from './shell/processes/holders.ts'
import type { SubprocessShell } from './subprocess-shell.ts'
import type { TmpdirFileSystem } from './tmpdir-file-system.ts'
import { isOwnDirectory, removeDirectory, type WorkspaceDirectory } from './workspace-directory.ts'

/** What a {@link LocalBashWorkspace} is made of. */
export interface LocalBashWorkspaceParts {
  readonly directory: WorkspaceDirectory
  readonly marker: OwnerMarker
  readonly isolation: Isolation
  readonly containment: Containment
  readonly maxProcesses: number | undefined
  readonly shellRoot: string
  readonly fs: TmpdirFileSystem
  readonly shell: SubprocessShell
  readonly code?: LocalCodeInterpreter
  readonly snapshot: Snapshotter
  /** Frees what the workspace leaves of its snapshots, once its directory is gone. */
  readonly release: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/** A directory of the host with its files and its commands. */
export class LocalBashWorkspace implements Workspace {
  readonly id: string
  readonly isolation: Isolation
  readonly containment: Containment
  readonly maxProcesses?: number
  readonly shellRoot: string
  readonly fs: TmpdirFileSystem
  readonly shell: SubprocessShell
  readonly code?: LocalCodeInterpreter
  readonly snapshot: Snapshotter
  readonly #parts: LocalBashWorkspaceParts
  #ending: Promise<void> | undefined

  constructor(parts: LocalBashWorkspaceParts) {
    this.#parts = parts
    this.id = parts.directory.name
    this.isolation = parts.isolation
    this.containment = parts.containment
    if (parts.maxProcesses !== undefined) this.maxProcesses = parts.maxProcesses
    this.shellRoot = parts.shellRoot
    this.fs = parts.fs
    this.shell = parts.shell
    if (parts.code !== undefined) this.code = parts.code
    this.snapshot = parts.snapshot
  }

  /** Ends all processes, background ones too, since no owner is left. The files stay. */
  async detach(): Promise<void> {
    this.#ending ??= this.#detach()
    return this.#ending
  }

  /** Ends all processes and removes the directory. A failure is logged, not thrown. */
  async close(): Promise<void> {
    const before = this.#ending
    this.#ending = before === undefined ? this.#close() : before.then(() => this.#remove())
    return this.#ending
  }

  async #detach(): Promise<void> {
    const { directory, marker, clock } = this.#parts
    await this.#release()
    if (!isOwnDirectory(directory.path) || !isOwnedBy(directory.path, marker)) return
    writeOwner(directory.path, detachedMarker(marker, clock.now()))
  }

  async #close(): Promise<void> {
    await this.#release()
    await this.#remove()
  }

  async #release(): Promise<void> {
    await this.code?.close()
    await this.shell.close()
    this.fs.release()
  }

  async #remove(): Promise<void> {
    const { path } = this.#parts.directory
    try {
      await removeDirectory(path)
      await this.#parts.release()
    } catch (error) {
      const fields = { err: error, path, holders: holdersOf(path) }
      this.#parts.logger.error(fields, logMessages.tmpdirCloseFailed)
    }
  }
}
