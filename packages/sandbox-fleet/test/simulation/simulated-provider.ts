import type {
  FleetDriver,
  ListedSandbox,
  SandboxListing,
  SandboxProbe,
  SandboxTarget,
} from '@helix-agents/sandbox-fleet'
import { ENVIRONMENT, type World } from './world.ts'

/** A sandbox as it really is. */
export interface RealSandbox {
  readonly id: string
  readonly environment: string | undefined
  readonly createdAt: number
  /** The owner that was told that it has it; undefined for a leak. */
  owner: { isAlive: boolean; holdsUntil: number; deadlineAt: number } | undefined
  /** An operator wants it gone, in use or not. */
  isCondemned?: boolean
  /** When an owner attached to it without the ledger. */
  attachedAt?: number
  /** Its owner let go of it for as long. */
  keptUntil: number
  /** Lists show it from then on. */
  readonly listedFrom: number
}

/** An entry that no listing should have. */
const NONSENSE: ListedSandbox = { id: '../etc', environment: ENVIRONMENT, createdAt: 0 }

export interface ProviderOptions {
  readonly name: string
  readonly canList: boolean
  readonly isOwnerVisible: boolean
  /** Called with each listing: what changes from then on, the listing does not show. */
  readonly onListed?: () => void
}

/** One that calls drivers. */
export interface SimulatedProcess {
  readonly isDead: () => boolean
  /** Sandboxes of which its last look told nothing. */
  readonly untold: Set<string>
}

/** Between the last question of a pass and its destroy nobody can see an owner attach. */
const RACE_MS = 1000

/** A provider that loses replies, hangs, lists late and forgets to destroy. */
export class SimulatedProvider {
  readonly name: string
  readonly sandboxes = new Map<string, RealSandbox>()
  /** Ids that the ledger has ever had. */
  readonly known = new Set<string>()
  /** When the ledger recorded that a sandbox is to be destroyed; the sandbox may be made later. */
  readonly intents = new Map<string, number>()
  readonly #destroying = new Map<
    string,
    { readonly process: SimulatedProcess; readonly since: number }
  >()
  readonly #world: World
  readonly #options: ProviderOptions
  /** Lists show what is gone for a while. */
  readonly #ghosts = new Map<string, { readonly sandbox: RealSandbox; readonly until: number }>()

  constructor(world: World, options: ProviderOptions) {
    this.name = options.name
    this.#world = world
    this.#options = options
  }

  /** Makes one; it may come late, or only its reply may be lost. */
  async create(id: string, environment: string | undefined = ENVIRONMENT): Promise<RealSandbox> {
    const { clock, random } = this.#world
    if (this.#world.strikes('createFails') && random.chance(0.5)) throw new Error('rejected')
    const isSlow = this.#world.strikes('slowStart')
    const most = this.#options.canList ? 300_000 : 100_000
    await clock.sleep(isSlow ? random.between(5000, most) : random.between(100, 3000))
    const createdAt = clock.now()
    const listedFrom = createdAt + (random.chance(0.3) ? random.between(0, 60_000) : 0)
    const sandbox = { id, environment, createdAt, owner: undefined, keptUntil: 0, listedFrom }
    this.sandboxes.set(id, sandbox)
    this.#world.tally.created += 1
    this.#world.note(`${this.name}: made ${id}`)
    if (this.#world.strikes('createFails')) throw new Error('reply lost')
    return sandbox
  }

  remove(id: string): void {
    const sandbox = this.sandboxes.get(id)
    if (sandbox === undefined) return
    this.sandboxes.delete(id)
    const until = this.#world.clock.now() + this.#world.random.between(0, 60_000)
    this.#ghosts.set(id, { sandbox, until })
    this.#world.note(`${this.name}: ${id} is gone`)
  }

  /** The driver of one process, whose calls end with it. */
  driver(process: SimulatedProcess): FleetDriver {
    const call = <T>(name: string, target: SandboxTarget | undefined, work: () => T): Promise<T> =>
      this.#call({ name, target, work, process })
    const list = (): Promise<SandboxListing> => call('list', undefined, () => this.#list())
    return {
      provider: this.name,
      ...(this.#options.canList && { list }),
      inspect: async (target) => {
        process.untold.add(target.id)
        const probe = await call('inspect', target, () => this.#probe(target.id))
        process.untold.delete(target.id)
        return probe
      },
      terminate: (target) => this.#once(target, process, () => this.#terminate(target.id)),
    }
  }

  /** Two that destroy the same at once are one too many. */
  async #once(target: SandboxTarget, process: SimulatedProcess, work: () => void): Promise<void> {
    const { clock } = this.#world
    const other = this.#destroying.get(target.id)
    if (other !== undefined && !other.process.isDead() && clock.now() - other.since < 20_000) {
      this.#world.violate(`${target.id} is destroyed by two at once`)
    }
    const mine = { process, since: clock.now() }
    this.#destroying.set(target.id, mine)
    try {
      return await this.#call({ name: 'terminate', target, work, process })
    } finally {
      if (this.#destroying.get(target.id) === mine) this.#destroying.delete(target.id)
    }
  }

  async #call<T>(options: {
    readonly name: string
    readonly target: SandboxTarget | undefined
    readonly work: () => T
    readonly process: SimulatedProcess
  }): Promise<T> {
    const { name, target, work, process } = options
    const world = this.#world
    if (target !== undefined && !this.known.has(target.id)) {
      world.violate(`${this.name} was asked about ${target.id}, which is not in the ledger`)
    }
    await world.clock.sleep(world.random.between(5, 200))
    if (world.strikes('driverFails')) throw new Error('rejected')
    // A request under way arrives although its sender died.
    const result = work()
    world.note(`${this.name}: ${name} ${target?.id ?? ''} -> ${JSON.stringify(result)}`)
    if (world.strikes('driverHangs')) return new Promise(() => undefined)
    if (world.strikes('driverLosesReply')) throw new Error('reply lost')
    await world.clock.sleep(world.random.between(5, 100))
    return process.isDead() ? new Promise(() => undefined) : result
  }

  #probe(id: string): SandboxProbe {
    const sandbox = this.sandboxes.get(id)
    if (sandbox === undefined) return { state: 'absent' }
    if (!this.#options.isOwnerVisible) return { state: 'running' }
    return { state: 'running', ownerAlive: sandbox.owner?.isAlive ?? false }
  }

  #terminate(id: string): void {
    const sandbox = this.sandboxes.get(id)
    if (sandbox === undefined) return
    this.#judgeKill(sandbox)
    if (this.#world.strikes('destroyDoesNothing')) return
    this.#world.tally.killed += 1
    this.remove(id)
  }

  #judgeKill(sandbox: RealSandbox): void {
    const { id, environment, keptUntil, owner } = sandbox
    const now = this.#world.clock.now()
    if (environment !== ENVIRONMENT) this.#world.violate(`${id} of ${environment} was ended`)
    if (sandbox.isCondemned === true) return
    if (keptUntil > now) this.#world.violate(`${id} waits for its session and was ended`)
    if (owner === undefined || !owner.isAlive || owner.deadlineAt <= now) return
    if (this.#isLostRace(sandbox)) return
    if (owner.holdsUntil > now) this.#world.violate(`${id} is held and was ended`)
    if (this.#options.isOwnerVisible) this.#world.violate(`the owner of ${id} is seen running`)
  }

  /** The intent was there before the sandbox was made, or before an attaching owner can be seen. */
  #isLostRace({ attachedAt, createdAt, id }: RealSandbox): boolean {
    const intendedAt = this.intents.get(id)
    if (intendedAt === undefined) return false
    if (intendedAt <= createdAt) return true
    return attachedAt !== undefined && intendedAt < attachedAt + RACE_MS
  }

  #list(): SandboxListing {
    const now = this.#world.clock.now()
    const all = [...this.sandboxes.values()].filter(({ listedFrom }) => listedFrom <= now)
    for (const { sandbox, until } of this.#ghosts.values()) if (until > now) all.push(sandbox)
    this.#options.onListed?.()
    const isComplete = !this.#world.strikes('listingPartial')
    const shown = isComplete ? all : all.slice(0, Math.floor(all.length / 2))
    return { isComplete, sandboxes: [...shown.map((one) => this.#toListed(one)), NONSENSE] }
  }

  #toListed({ id, environment, createdAt, owner }: RealSandbox): ListedSandbox {
    return {
      id,
      createdAt,
      ...(environment !== undefined && { environment }),
      ...(this.#options.isOwnerVisible && { ownerAlive: owner?.isAlive ?? false }),
    }
  }
}
