import { ManualClock } from '@helix-agents/core/testing'
import type {
  CommandBatch,
  FileSystem,
  ShellEngine,
  ShellEngineHost,
  Workspace,
} from '@helix-agents/core/provider'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'
import { countStatements } from './counted-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from './provider-harness.ts'

/** An engine that runs nothing, and gives away what it was opened with. */
export class CapturedEngine implements ShellEngine {
  readonly name = 'captured'
  readonly toolNote = ''
  host: ShellEngineHost | undefined

  open(host: ShellEngineHost): ReturnType<ShellEngine['open']> {
    this.host = host
    return {
      root: '/',
      run: () => Promise.reject(new Error('it runs nothing')),
      close: async () => {},
    }
  }

  startBatch(): CommandBatch {
    const batch = this.host?.startBatch?.()
    if (batch === undefined) throw new Error('the provider gives no batch')
    return batch
  }
}

export interface BatchFixture {
  readonly storage: FileStoreStorage
  readonly clock: ManualClock
  readonly ws: Workspace
  readonly fs: FileSystem
  readonly batch: CommandBatch
  readonly counts: { readonly statements: string[]; transactions: number }
}

/** The batch of one command over the files of a session. */
export async function openBatch(
  storage: FileStoreStorage,
  setup: ProviderSetup = {},
): Promise<BatchFixture> {
  const counted = countStatements(storage)
  const counts = { statements: counted.statements, transactions: 0 }
  const transactionSync = <T>(work: () => T): T => {
    counts.transactions += 1
    return counted.storage.transactionSync(work)
  }
  const shell = new CapturedEngine()
  const clock = new ManualClock()
  const provider = createProvider(
    { ...counted.storage, transactionSync },
    { shell, clock, ...setup },
  )
  const { ws } = await provider.open(
    { kind: 'cloudflare-filestore' },
    session,
    openOptions({ clock }),
  )
  return { storage, clock, ws, fs: ws.fs as FileSystem, batch: shell.startBatch(), counts }
}
