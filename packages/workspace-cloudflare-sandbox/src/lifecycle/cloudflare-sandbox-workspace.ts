import type { Workspace, WorkspaceRef } from '@helix-agents/core/provider'
import { WORKSPACE_ROOT } from '../config.ts'
import type { CloudflareSandboxCodeInterpreter } from '../modules/code/cloudflare-sandbox-code-interpreter.ts'
import type { CloudflareSandboxFileSystem } from '../modules/fs/cloudflare-sandbox-file-system.ts'
import type { CloudflareSandboxShell } from '../modules/shell/cloudflare-sandbox-shell.ts'
import type { CloudflareSandboxSnapshotter } from '../modules/snapshot/cloudflare-sandbox-snapshotter.ts'
import type { LiveSandbox } from './live-sandbox.ts'
import { toOpenError } from './map-error.ts'
import { recordOwed } from './record-owed.ts'
import type { SandboxDirectory, SandboxDirectoryEntry } from './sandbox-directory.ts'

export interface SandboxWorkspaceParts {
  readonly sandbox: LiveSandbox
  readonly fs: CloudflareSandboxFileSystem
  readonly shell: CloudflareSandboxShell
  readonly code: CloudflareSandboxCodeInterpreter
  /** Absent without a backup bucket. */
  readonly snapshot?: CloudflareSandboxSnapshotter
  readonly record: SandboxDirectoryEntry
  readonly directory?: SandboxDirectory
  /** Whether `close` ends the container. */
  readonly destroyOnClose: boolean
  /** Called once the end of the sandbox is certain. */
  onDestroyed(): void
}

/** A handle on one sandbox. */
export class CloudflareSandboxWorkspace implements Workspace {
  readonly id: string
  readonly isolation = 'container'
  readonly shellRoot = WORKSPACE_ROOT
  readonly fs: CloudflareSandboxFileSystem
  readonly shell: CloudflareSandboxShell
  readonly code: CloudflareSandboxCodeInterpreter
  readonly snapshot?: CloudflareSandboxSnapshotter
  readonly #parts: SandboxWorkspaceParts
  #detached: Promise<void> | undefined
  #closed: Promise<void> | undefined

  constructor(parts: SandboxWorkspaceParts) {
    this.#parts = parts
    this.id = parts.sandbox.ref.sandbox
    this.fs = parts.fs
    this.shell = parts.shell
    this.code = parts.code
    if (parts.snapshot !== undefined) this.snapshot = parts.snapshot
  }

  get changedRef(): WorkspaceRef | undefined {
    return this.#parts.sandbox.changedRef
  }

  /** Releases connections. Files and background processes stay until the container sleeps. */
  async detach(): Promise<void> {
    this.#detached ??= this.#disconnect()
    return this.#detached
  }

  /**
   * Ends the container, where that is declared, and returns once the platform has confirmed it.
   * Otherwise ends background processes and code contexts and leaves the container to its sleep.
   * @throws {WorkspaceFailedError} when the end is not confirmed. Closing again tries again.
   */
  async close(): Promise<void> {
    this.#closed ??= this.#close()
    try {
      await this.#closed
    } catch (error) {
      this.#closed = undefined
      throw error
    }
  }

  async #close(): Promise<void> {
    if (this.#parts.destroyOnClose) await this.#destroy()
    else if (this.#detached === undefined) await this.#endAll()
    await this.detach()
  }

  async #endAll(): Promise<void> {
    await Promise.all([this.shell.endAll(), this.code.endAll()])
  }

  async #destroy(): Promise<void> {
    const { sandbox, directory, record } = this.#parts
    sandbox.close()
    try {
      await sandbox.driver.destroy()
    } catch (cause) {
      await recordOwed(this.#parts, cause, sandbox.logger)
      throw toOpenError(cause)
    }
    this.#parts.onDestroyed()
    await directory?.recordDestroyed(record)
  }

  async #disconnect(): Promise<void> {
    const { sandbox } = this.#parts
    sandbox.close()
    await sandbox.driver.disconnect()
  }
}
