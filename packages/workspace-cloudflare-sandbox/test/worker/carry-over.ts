import { noopLogger, systemClock } from '@helix-agents/core'
import {
  type OpenedWorkspace,
  type OpenOptions,
  portableSnapshots,
  shellConfigSchema,
} from '@helix-agents/core/provider'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import {
  CloudflareSandboxWorkspaceProvider,
  createSdkDriver,
  type SandboxSource,
} from '@helix-agents/workspace-cloudflare-sandbox'

/** What a portable snapshot of a sandbox took, and what a new sandbox has of it. */
export interface CarriedOver {
  /** Methods of the files that were called for the snapshot, each a round trip or a few. */
  readonly taken: readonly string[]
  /** The same for the next one, in which one file changed. */
  readonly takenAgain: readonly string[]
  /** For the restore, without those that write files. */
  readonly restored: readonly string[]
  readonly told: string
  readonly detail: string | undefined
}

const MAKE = `mkdir -p d/e
for i in {1..60}; do echo $i >d/$i; done
head -c 600000 /dev/zero >large
printf '#!/bin/sh\\necho ran' >run.sh
chmod 755 run.sh; chmod 600 d/1; chmod 700 d/e
ln -s ../run.sh d/link; ln -s /etc/hostname out`
const TELL = 'd/link; stat -c "%a %n" run.sh d/e d/1; cat d/60; ls d | wc -l; stat -c %s large'

const options: OpenOptions = {
  workspace: 'box',
  capabilities: { shell: shellConfigSchema.parse({}) },
  signal: new AbortController().signal,
  logger: noopLogger,
  clock: systemClock,
}
const session = { sessionId: 'carried', agentType: 'bench' }

/** Fills a sandbox, takes two snapshots of it, and opens a second one from the last. */
export async function carryOver(source: SandboxSource): Promise<CarriedOver> {
  const made: string[] = []
  const driverOf = createSdkDriver({ source })
  const sandboxes = new CloudflareSandboxWorkspaceProvider({
    driver: (settings) => {
      const driver = driverOf(settings)
      return { ...driver, files: recorded(driver.files, made) }
    },
  })
  const provider = portableSnapshots(sandboxes, { store: new InMemorySnapshotStore() })
  const first = await provider.open({ kind: 'cloudflare-sandbox' }, session, options)
  await run(first, MAKE)
  const snapshot = async () => {
    made.length = 0
    const ref = await first.ws.snapshot?.snapshot()
    if (ref === undefined) throw new Error('no snapshots')
    return { ref, calls: made.toSorted() }
  }
  const { calls: taken } = await snapshot()
  await run(first, 'echo changed >d/60')
  const { calls: takenAgain, ref } = await snapshot()
  made.length = 0
  const fork = await first.ws.snapshot?.restore(ref)
  if (fork === undefined) throw new Error('no restore')
  const restored = made.filter((name) => name !== 'write').toSorted()
  const second = await provider.resolve(fork, { ...options, session })
  const told = await run(second, TELL)
  for (const { ws } of [first, second]) await ws.close()
  return { taken, takenAgain, restored, told, detail: second.receipt.detail }
}

async function run({ ws }: OpenedWorkspace, command: string): Promise<string> {
  const result = await ws.shell?.run(command)
  return [result?.stdout, result?.stderr].map((bytes) => new TextDecoder().decode(bytes)).join('')
}

/** The same, with the names of the methods that are called. */
function recorded<T extends object>(target: T, made: string[]): T {
  return new Proxy(target, {
    get: (_, key) => {
      const value: unknown = Reflect.get(target, key)
      if (typeof value === 'object' && value !== null) return recorded(value, made)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, given)
        if (key === 'withoutLinks') return recorded(result as object, made)
        made.push(String(key))
        return result
      }
    },
  })
}
