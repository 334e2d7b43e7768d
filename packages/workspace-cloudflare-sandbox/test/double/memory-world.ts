// Sandboxes in memory, for what a real container cannot be made to do on demand: every error of a
// driver, at every call, and containers that vanish between two of them.
import { noopLogger, systemClock } from '@helix-agents/core'
import { type FileSystem, fileSystemConfigSchema } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import type {
  CreateSandboxDriver,
  DriverCodeOutcome,
  ExecOutcome,
  KeptSnapshot,
  MountRequest,
} from '../../src/driver/port.ts'
import type { DriverProcessOutput } from '../../src/driver/processes.ts'
import { MemoryDriver } from './memory-driver.ts'

export interface Container {
  readonly fs: FileSystem
  readonly mounts: MountRequest[]
  epoch: string | undefined
}

/** A tree as data: null is a directory. */
export type Tree = ReadonlyMap<string, Uint8Array | null>

export interface WorldCall {
  readonly sandboxId: string
  readonly name: string
}

export class SandboxWorld {
  /** Running containers by sandbox id. */
  readonly containers = new Map<string, Container>()
  readonly backups = new Map<string, Tree>()
  /** Those of them that a history keeps, by id. */
  readonly kept = new Map<string, { readonly name: string; readonly snapshot: KeptSnapshot }>()
  /** Every sandbox that was ever touched. */
  readonly touched = new Set<string>()
  /** Names of all calls, in order. */
  readonly calls: string[] = []
  /** Does what a fault does: throws, or waits. */
  onCall: (call: WorldCall) => Promise<void> | void = () => {}
  /** What commands print and code gives. Default: a command its arguments, code nothing. */
  onExec: ((argv: readonly string[]) => Pick<ExecOutcome, 'stdout' | 'stderr'>) | undefined
  onCode: (code: string) => DriverCodeOutcome['outputs'] = () => []
  onOutput: (() => Pick<DriverProcessOutput, 'stdout' | 'stderr'>) | undefined
  now: () => number = Date.now
  /** Sees the limits of each restore. */
  onRestore: (limits: object) => void = () => {}
  /** How often a container was started. */
  starts = 0
  #backupCount = 0

  readonly createDriver: CreateSandboxDriver = (settings) => new MemoryDriver(this, settings)

  async enter(sandboxId: string, name: string): Promise<void> {
    this.touched.add(sandboxId)
    this.calls.push(name)
    await this.onCall({ sandboxId, name })
  }

  async start(sandboxId: string): Promise<Container> {
    const running = this.containers.get(sandboxId)
    if (running !== undefined) return running
    this.starts += 1
    const fs = await emptyFiles()
    const container = this.containers.get(sandboxId) ?? { fs, mounts: [], epoch: undefined }
    this.containers.set(sandboxId, container)
    return container
  }

  /** The disk is gone, as after a sleep. */
  sleep(sandboxId?: string): void {
    if (sandboxId === undefined) this.containers.clear()
    else this.containers.delete(sandboxId)
  }

  store(tree: Tree): string {
    this.#backupCount += 1
    const id = `backup-${this.#backupCount}`
    this.backups.set(id, tree)
    return id
  }
}

async function emptyFiles(): Promise<FileSystem> {
  const { ws } = await new InMemoryWorkspaceProvider().open(
    { kind: 'in-memory' },
    { sessionId: 'world', agentType: 'world' },
    {
      workspace: 'box',
      capabilities: { fs: fileSystemConfigSchema.parse({ maxFileSizeMb: 4096 }) },
      signal: new AbortController().signal,
      logger: noopLogger,
      clock: systemClock,
    },
  )
  if (ws.fs === undefined) throw new Error('the memory workspace has no files')
  return ws.fs
}
