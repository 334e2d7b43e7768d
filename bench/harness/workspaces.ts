import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noopLogger, systemClock } from '@helix-agents/core'
import type {
  FileSystem,
  Shell,
  Snapshotter,
  Workspace,
  WorkspaceProvider,
} from '@helix-agents/core/provider'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

/** Opens a workspace of ours without an agent around it. */
async function open(provider: WorkspaceProvider, kind: string): Promise<Workspace> {
  const { ws } = await provider.open(
    { kind },
    { sessionId: 'bench', agentType: 'bench' },
    {
      workspace: 'bench',
      capabilities: {},
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: systemClock,
    },
  )
  return ws
}

export async function openMemory(): Promise<FileSystem> {
  const ws = await open(new InMemoryWorkspaceProvider({ maxTotalMb: 4096 }), 'in-memory')
  return present(ws.fs)
}

/** Files in memory, and their snapshots. */
export async function openMemorySnapshots(): Promise<{
  readonly fs: FileSystem
  readonly snapshots: Snapshotter
}> {
  const ws = await open(new InMemoryWorkspaceProvider({ maxTotalMb: 4096 }), 'in-memory')
  return { fs: present(ws.fs), snapshots: present(ws.snapshot) }
}

export interface DiskWorkspace {
  readonly fs: FileSystem
  readonly shell: Shell
  close(): Promise<void>
}

export async function openDisk(): Promise<DiskWorkspace> {
  const ws = await open(new LocalBashWorkspaceProvider({ logger: noopLogger }), 'local-bash')
  return { fs: present(ws.fs), shell: present(ws.shell), close: () => ws.close() }
}

/** A directory with snapshots, all of it in one folder. */
export async function openSnapshots(folder: string): Promise<{
  readonly root: string
  readonly snapshots: Snapshotter
  close(): Promise<void>
}> {
  const provider = new LocalBashWorkspaceProvider({ logger: noopLogger, tmpdirRoot: folder })
  const ws = await open(provider, 'local-bash')
  const root = present(ws.shellRoot)
  return { root, snapshots: present(ws.snapshot), close: () => ws.close() }
}

/** A folder for the peers, on the same disk as ours. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'helix-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

function present<T>(module: T | undefined): T {
  if (module === undefined) throw new Error('the workspace lacks a module')
  return module
}
