// The process that carries workerd and the containers: what dies with it is what dies when a
// machine does. Started by local-sandboxes.ts.
import { once } from 'node:events'
import { join } from 'node:path'
import { startSandboxTestbed } from '@helix-agents/sandbox-testbed'

/** The messages that this process receives. */
export interface HostSettings {
  readonly engine: 'local' | 'docker'
  /** Of the Worker: the same one finds its objects again. */
  readonly name: string
  /** For the data of objects and buckets. */
  readonly folder: string
  /** May be secret. */
  readonly variables: Readonly<Record<string, string>>
}

if (import.meta.main) await host()

async function host(): Promise<void> {
  const [settings] = (await once(process, 'message')) as [HostSettings]
  const { engine, name, folder, variables } = settings
  const testbed = await startSandboxTestbed({
    engine,
    persistTo: folder,
    worker: {
      name,
      entry: join(import.meta.dirname, 'sandbox/worker.ts'),
      durableObjects: {
        SANDBOX: { className: 'Sandbox', container: true },
        MAINTAINERS: 'Maintainer',
      },
      r2Buckets: ['BACKUP_BUCKET'],
      bindings: variables,
    },
    onLog: (line) => console.log(line),
  })
  const end = async (): Promise<void> => {
    await testbed.stop()
    process.exit(0)
  }
  // It ends with the process that has started it.
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(signal, end)
  process.send?.(testbed.url.href)
}
