import { fork } from 'node:child_process'
import { once } from 'node:events'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LocalWorker } from './local-worker.ts'
import { modelVariables } from './model-environment.ts'
import { superviseGroup } from './process-group.ts'
import { chooseSandboxEngine } from './sandbox-engine.ts'
import type { HostSettings } from './sandbox-host.ts'
import type { Part } from './story.ts'

export interface LocalSandboxesOptions {
  readonly part: Part
  /** Holds what objects and buckets store; outlives them. */
  readonly folder: string
  /** Gets every line that the Worker prints. */
  readonly onLine: (line: string) => void
}

/**
 * Starts the Worker of `cloudflare-sandbox`, with its containers, in a process of its own.
 * @throws {Error} when nothing can run containers here, or when that process ends before it is ready.
 */
export async function startLocalSandboxes(options: LocalSandboxesOptions): Promise<LocalWorker> {
  const engine = await chooseSandboxEngine()
  if (engine.name === undefined) throw new Error(engine.reason)
  const host = fork(join(import.meta.dirname, 'sandbox-host.ts'), {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const group = superviseGroup(host)
  for (const input of [host.stdout, host.stderr]) {
    if (input !== null) createInterface({ input }).on('line', options.onLine)
  }
  const ready = once(host, 'message').then(([url]: unknown[]) => String(url))
  const { part, folder } = options
  const settings: HostSettings = {
    engine: engine.name,
    name: basename(folder),
    folder: join(folder, 'worker'),
    variables: { ...modelVariables(), PART: part, ENGINE: engine.name },
  }
  host.send(settings)
  const url = await Promise.race([ready, group.exit])
  if (url === undefined) throw new Error('the test bed did not start')
  return { url: url.replace(/\/$/, ''), ...group }
}
