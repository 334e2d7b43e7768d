import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Image } from '../../root/image.ts'
import type { ContainerLimits, PrivateRoot } from '../../root/mount-plan.ts'
import { createPrivateRoot, removeRoot } from '../../root/private-root.ts'
import { Container } from './container.ts'
import { isContainerOf } from './container-name.ts'
import type { ContainerHost } from './container-run.ts'
import { Network } from '../network/network.ts'
import type { PeerTest } from './own-peers.ts'
import { Sidecar } from '../network/sidecar.ts'

const SIDECAR_SUFFIX = '-proxy'

/** What the containers of a test bed share. */
export interface StoreSettings extends ContainerHost {
  readonly image: Image
  readonly limits: ContainerLimits
  /** Whom sidecars serve. */
  readonly isOwnPeer: PeerTest
  /** Folder on the host for the disks of containers. */
  readonly directory: string
}

/** A sidecar of the engine's view: created, perhaps running. */
export interface SidecarRecord {
  readonly id: string
  readonly sidecar: Sidecar
  /** Port on the host; undefined before the start. */
  port?: number
}

/** The containers and sidecars of an engine, by name. */
export class ContainerStore {
  readonly settings: StoreSettings
  readonly containers = new Map<string, Container>()
  readonly sidecars = new Map<string, SidecarRecord>()
  /** What is on its way out, by what it is. */
  readonly #removals = new Map<Container | PrivateRoot, Promise<void>>()
  #closed = false

  constructor(settings: StoreSettings) {
    this.settings = settings
  }

  /** Whether it takes nothing in any more. */
  get closed(): boolean {
    return this.#closed
  }

  /** The container of a sandbox id, whatever its state. */
  ofSandbox(sandbox: string): Container | undefined {
    return [...this.containers.values()].find(({ name }) => isContainerOf(name, sandbox))
  }

  /** Finds by name or id. */
  find(reference: string): Container | undefined {
    return this.containers.get(reference) ?? byId(this.containers, reference)
  }

  findSidecar(reference: string): SidecarRecord | undefined {
    return this.sidecars.get(reference) ?? byId(this.sidecars, reference)
  }

  isSidecarName(name: string): boolean {
    return name.endsWith(SIDECAR_SUFFIX)
  }

  create(name: string, env: readonly string[]): Container {
    const id = newId()
    const container = new Container(this.settings, { name, id, root: this.#newRoot(), env })
    this.containers.set(name, container)
    return container
  }

  /** Begins a run of a container that is not running and not on its way out. */
  start(container: Container): void {
    const { root, state } = container
    // The platform gives every start an empty disk.
    if (state === 'exited') container.start(this.#newRoot())
    else container.start()
    if (state === 'exited') void this.#discard(root)
    void container.exited.then(() =>
      this.sidecars.get(`${container.name}${SIDECAR_SUFFIX}`)?.sidecar.cutAll(),
    )
  }

  createSidecar(name: string): SidecarRecord {
    const app = name.slice(0, -SIDECAR_SUFFIX.length)
    const sidecar = new Sidecar({
      container: () => this.containers.get(app),
      network: () => new Network(this.settings.faults, app),
      isOwnPeer: this.settings.isOwnPeer,
    })
    const record = { id: newId(), sidecar }
    this.sidecars.set(name, record)
    return record
  }

  /** Whether a container is on its way out. */
  isLeaving(container: Container): boolean {
    return this.#removals.has(container)
  }

  /** Ends a container and wipes its disk. Its name is taken until its processes are gone. */
  remove(container: Container): Promise<void> {
    return this.#once(container, async () => {
      container.end(137)
      if (container.state === 'running') await container.exited
      this.containers.delete(container.name)
      await this.#discard(container.root)
      container.markRemoved()
    })
  }

  async removeSidecar(name: string): Promise<void> {
    const record = this.sidecars.get(name)
    this.sidecars.delete(name)
    await record?.sidecar.stop()
  }

  /** Ends everything, and takes nothing in any more. */
  async clear(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.containers.values()].map((container) => this.remove(container)))
    await Promise.all([...this.sidecars.keys()].map((name) => this.removeSidecar(name)))
    await Promise.allSettled(this.#removals.values())
  }

  #newRoot(): PrivateRoot {
    const { directory, image, limits } = this.settings
    return createPrivateRoot({ directory: join(directory, newId().slice(0, 12)), image, limits })
  }

  #discard(root: PrivateRoot): Promise<void> {
    return this.#once(root, () => removeRoot(root))
  }

  /** A second removal is the first one. */
  #once(what: Container | PrivateRoot, remove: () => Promise<void>): Promise<void> {
    const known = this.#removals.get(what)
    if (known !== undefined) return known
    const removal = remove()
    this.#removals.set(what, removal)
    const forget = (): unknown => this.#removals.delete(what)
    removal.then(forget, forget)
    return removal
  }
}

function newId(): string {
  return randomBytes(32).toString('hex')
}

function byId<Item extends { readonly id: string }>(
  items: ReadonlyMap<string, Item>,
  id: string,
): Item | undefined {
  return [...items.values()].find((item) => item.id === id)
}
