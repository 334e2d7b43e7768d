import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@helix-agents/core'
import type {
  OpenedWorkspace,
  OpenOptions,
  ResolveOptions,
  WorkspaceRef,
} from '@helix-agents/core/provider'
import { RecordingLogger } from '@helix-agents/core/testing'
import {
  type LocalBashConfig,
  LocalBashWorkspaceProvider,
  type LocalBashWorkspaceProviderOptions,
} from '@helix-agents/workspace-local-bash'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'

export const SESSION = { sessionId: 'session-1', agentType: 'tester' }

/** A provider with a directory of its own for its workspaces. */
export class TestHost {
  readonly tmpdirRoot = mkdtempSync(join(tmpdir(), 'helix-host-'))
  readonly logger = new RecordingLogger()
  readonly options: LocalBashWorkspaceProviderOptions
  readonly provider: LocalBashWorkspaceProvider
  readonly #opened: LocalBashWorkspace[] = []

  constructor(options: LocalBashWorkspaceProviderOptions = {}) {
    this.options = { tmpdirRoot: this.tmpdirRoot, logger: this.logger, ...options }
    this.provider = new LocalBashWorkspaceProvider(this.options)
  }

  get openOptions(): OpenOptions {
    return {
      workspace: 'main',
      capabilities: {},
      signal: new AbortController().signal,
      logger: this.logger,
      clock: systemClock,
    }
  }

  async open(config: Omit<LocalBashConfig, 'kind'> = {}): Promise<{
    readonly ws: LocalBashWorkspace
    readonly opened: OpenedWorkspace
  }> {
    const full = { kind: 'local-bash' as const, ...config }
    return this.#keep(await this.provider.open(full, SESSION, this.openOptions))
  }

  async resolve(ref: WorkspaceRef, sessionId = SESSION.sessionId) {
    return this.#keep(await this.provider.resolve(ref, this.resolveOptions(sessionId)))
  }

  resolveOptions(sessionId = SESSION.sessionId): ResolveOptions {
    return { ...this.openOptions, session: { ...SESSION, sessionId } }
  }

  async dispose(): Promise<void> {
    for (const ws of this.#opened) await ws.close()
    rmSync(this.tmpdirRoot, { recursive: true, force: true })
  }

  #keep(opened: OpenedWorkspace) {
    const ws = opened.ws as LocalBashWorkspace
    this.#opened.push(ws)
    return { ws, opened }
  }
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}
