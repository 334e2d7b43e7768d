import { DriverError } from '@helix-agents/workspace-cloudflare-sandbox'
import type {
  DriverSnapshot,
  DriverSnapshots,
  DriverTakeOptions,
  KeptSnapshot,
} from '../../src/driver/port.ts'
import { createContainerSlice } from './memory-files.ts'
import type { Container, SandboxWorld, Tree } from './memory-world.ts'

type Limits = Parameters<DriverSnapshots['restore']>[2]

export class MemorySnapshots implements DriverSnapshots {
  readonly #reach: (name: string) => Promise<Container>
  readonly #world: SandboxWorld

  constructor(reach: (name: string) => Promise<Container>, world: SandboxWorld) {
    this.#reach = reach
    this.#world = world
  }

  async take(
    directory: string,
    { ttlSeconds, name, keptAtMs, signal }: DriverTakeOptions,
  ): Promise<DriverSnapshot> {
    const container = await this.#reach('snapshots.take')
    signal?.throwIfAborted()
    const id = this.#world.store(await readTree(container, '/'))
    const expiresAtMs = this.#world.now() + ttlSeconds * 1000
    const backup = { id, directory, expiresAtMs, local: true }
    if (name !== undefined && keptAtMs !== undefined)
      this.#world.kept.set(id, { name, snapshot: { takenAtMs: keptAtMs, backup } })
    return backup
  }

  async listKept(name: string): Promise<readonly KeptSnapshot[]> {
    const all = [...this.#world.kept.values()]
    return all.filter((one) => one.name === name).map(({ snapshot }) => snapshot)
  }

  async remove({ id }: Pick<DriverSnapshot, 'id'>): Promise<void> {
    this.#world.backups.delete(id)
    this.#world.kept.delete(id)
  }

  async restore({ id }: DriverSnapshot, _directory: string, limits: Limits): Promise<void> {
    const container = await this.#reach('snapshots.restore')
    this.#world.onRestore(limits)
    const tree = this.#world.backups.get(id)
    if (tree === undefined) throw new DriverError('snapshot-missing', id, { admitted: 'no' })
    if (tree.size > limits.maxMembers) {
      throw new DriverError('snapshot-too-large', id, { admitted: 'no' })
    }
    await container.fs.rm('/', { recursive: true })
    for (const [path, content] of tree) {
      if (content === null) await container.fs.mkdir(path, { recursive: true })
      else await container.fs.writeFile(path, content)
    }
  }
}

async function readTree({ fs }: Container, directory: string): Promise<Tree> {
  const tree = new Map<string, Uint8Array | null>()
  const slice = createContainerSlice()
  const open = [directory]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { path, type } of await fs.ls(at)) {
      const isDirectory = type === 'directory'
      tree.set(path, isDirectory ? null : await fs.readFile(path))
      if (isDirectory) open.push(path)
      if (slice.due) await slice.pause()
    }
  }
  return tree
}
