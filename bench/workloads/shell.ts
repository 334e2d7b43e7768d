// One command, and a command that prints 100 MB.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Contender, measure } from '../harness/measure.ts'
import { loadPeer } from '../harness/peers.ts'
import { report, type Verdict } from '../harness/report.ts'
import { openDisk, temporaryFolder } from '../harness/workspaces.ts'

const HUNDRED_MB = 'yes 0123456789abcdef0123456789abcdef | head -c 100000000'

export async function run(peers: boolean): Promise<Verdict[]> {
  const workspace = await openDisk()
  const folder = temporaryFolder()
  const others = peers ? await peerShells(folder.path) : []
  const contend = (command: string): Contender[] => [
    contender('spawn sh -c', () => spawned(command)),
    contender('helix run', () => workspace.shell.run(command)),
    ...others.map((peer) => contender(peer.name, () => peer.run(command))),
  ]
  const names = { ours: 'helix run', limit: 'spawn sh -c', unit: 'ms' } as const
  const verdicts: Verdict[] = []
  for (const [command, most, peerLeast] of [
    ['true', 0.4, 2.5],
    ['/bin/echo hi', 0.75, 1.3],
  ] as const) {
    const measurements = await measure(contend(command), { sampleMs: 100 })
    const gate = { most, peerLeast }
    verdicts.push(report({ ...names, title: `shell: ${command}`, measurements, gate }))
  }
  const measurements = await measure(contend(HUNDRED_MB), { rounds: 3, sampleMs: 1 })
  const gate = { most: 1.1, peerLeast: 2 }
  verdicts.push(report({ ...names, title: 'shell: 100 MB of output', measurements, gate }))
  await workspace.close()
  folder.remove()
  return verdicts
}

/** Reads and counts the output, as the least that sees all of it. */
async function spawned(command: string): Promise<number> {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] })
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => (bytes += chunk.byteLength))
  await once(child, 'close')
  return bytes
}

interface PeerShell {
  readonly name: string
  run(command: string): Promise<unknown>
}

async function peerShells(folder: string): Promise<PeerShell[]> {
  type Execa = (options: object) => (command: string) => Promise<unknown>
  const found: PeerShell[] = []
  const execa = await loadPeer<{ execa: Execa }>('execa')
  if (execa) {
    const bound = execa.execa({ shell: true, stdin: 'ignore', cwd: folder, maxBuffer: 1e9 })
    found.push({ name: 'execa', run: (command) => bound(command) })
  }
  type Backend = new (options: object) => {
    initialize(): Promise<void>
    execute(command: string): Promise<unknown>
  }
  const deep = await loadPeer<{ LocalShellBackend: Backend }>('deepagents')
  if (deep) {
    const backend = new deep.LocalShellBackend({ rootDir: folder })
    await backend.initialize()
    found.push({ name: 'deepagents LocalShellBackend', run: (line) => backend.execute(line) })
  }
  return found
}

function contender(name: string, task: () => Promise<unknown>): Contender {
  return {
    name,
    run: async (times) => {
      for (let i = 0; i < times; i++) await task()
    },
  }
}
