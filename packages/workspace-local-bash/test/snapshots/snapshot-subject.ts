import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotRef } from '@helix-agents/core/provider'
import {
  type LocalBashWorkspace,
  DirectorySnapshotStore,
} from '@helix-agents/workspace-local-bash/parts'
import { TestHost } from '../open-workspace.ts'

/** A workspace of a host of its own, and the store of its snapshots. */
export class SnapshotSubject {
  readonly host: TestHost
  readonly ws: LocalBashWorkspace

  private constructor(host: TestHost, ws: LocalBashWorkspace) {
    this.host = host
    this.ws = ws
  }

  static async create(): Promise<SnapshotSubject> {
    const host = new TestHost()
    const { ws } = await host.open()
    return new SnapshotSubject(host, ws)
  }

  get root(): string {
    return this.ws.shellRoot
  }

  get storeDirectory(): string {
    return join(this.host.tmpdirRoot, `helix-snapshots-${process.getuid?.()}`)
  }

  get store(): DirectorySnapshotStore {
    return new DirectorySnapshotStore({ directory: this.storeDirectory })
  }

  /** Names of all workspaces. */
  get workspaces(): string[] {
    return readdirSync(this.host.tmpdirRoot).filter((name) => name.startsWith('helix-ws-'))
  }

  /** Paths of all stored blocks. */
  get blocks(): string[] {
    return this.stored(/blocks\/[0-9a-f]{2}\/[0-9a-f]{62}$/)
  }

  /** Every file of the store whose path matches. */
  stored(pattern: RegExp): string[] {
    const names = readdirSync(this.storeDirectory, { recursive: true, encoding: 'utf8' })
    return names.filter((name) => pattern.test(name)).map((name) => join(this.storeDirectory, name))
  }

  async manifestOf(ref: SnapshotRef) {
    const { line, id } = payloadOf(ref)
    return this.store.getManifest(line, id)
  }

  /** Restores a snapshot. @returns the directory of its files */
  async restored(ref: SnapshotRef): Promise<string> {
    return (await this.host.resolve(await this.ws.snapshot.restore(ref))).ws.shellRoot
  }

  /** The same workspace, as another process has it. */
  async reopened(): Promise<LocalBashWorkspace> {
    await this.ws.detach()
    const ref = { directory: this.ws.id, isolation: 'none' }
    const full = { providerId: 'local-bash', schemaVersion: 1, capabilities: {}, ref }
    return (await this.host.resolve(full)).ws
  }
}

export function payloadOf(ref: SnapshotRef) {
  return ref.ref as { readonly line: string; readonly id: string; readonly digest: string }
}
