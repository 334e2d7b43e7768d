import { noopLogger } from '@helix-agents/core'
import {
  type FleetStore,
  MemoryFleetStore,
  type PassOutcome,
  type SandboxRecord,
} from '@helix-agents/sandbox-fleet'
import type { FleetContext } from '../../src/fleet-context.ts'
import { createFleetContext } from '../../src/fleet-options.ts'
import { runReconcile } from '../../src/reconcile/run-reconcile.ts'
import { type SafetyRules, safetyRules } from '../../src/safety/safety-rules.ts'
import { runCleanup } from '../../src/sweep/run-cleanup.ts'
import { terminateSandbox } from '../../src/sweep/terminate-sandbox.ts'
import { attach, live, type Owner } from './owner.ts'
import { LedgerWatcher } from './ledger-watcher.ts'
import { checkRest, isAtRest } from './rest.ts'
import { SimulatedProvider } from './simulated-provider.ts'
import { unreliableStore } from './unreliable-store.ts'
import { ProcessClock } from './virtual-clock.ts'
import { ENVIRONMENT, NO_FAULTS, type Tally, World } from './world.ts'

const MINUTE_MS = 60_000
const CHAOS_MS = 30 * MINUTE_MS
/**
 * A leak must be gone this long after the last fault: the longest lease, ten idle minutes, backoff,
 * and some passes of a reconciliation that runs every third time.
 */
const BOUND_MS = 50 * MINUTE_MS
/** Whatever was under way has arrived by then; where all is at rest, nothing more comes. */
const MIN_REST_MS = 15 * MINUTE_MS
const REST_STEP_MS = 5 * MINUTE_MS
const SKEW_MS = 4000

const policy = {
  graceMs: 2 * MINUTE_MS,
  provisionTimeoutMs: 2 * MINUTE_MS,
  ownerLeaseMs: 2 * MINUTE_MS,
  clockSkewMs: 2 * SKEW_MS + 1000,
  maxHoldMs: 15 * MINUTE_MS,
  maxKillsPerPass: 3,
  maxRetriesPerPass: 4,
  passTimeoutMs: 3 * MINUTE_MS,
}

export interface ScheduleOptions {
  readonly isTraced?: boolean
  /** Rules of the fleet, to see that the simulator notices when one is missing. */
  readonly rules?: SafetyRules
  /** The ledger has a clock; those of the processes are off by up to so much, and leap. */
  readonly wrongByMs?: number
  /** The clocks of all sweepers are so much ahead, and the ledger has none. */
  readonly sweepersAheadMs?: number
  /** The ledger itself. Default: in memory. */
  readonly store?: FleetStore
}

export interface ScheduleResult {
  readonly seed: number
  readonly violations: readonly string[]
  readonly tally: Tally
  readonly trace: readonly string[]
}

/** One schedule: half an hour of trouble, then rest. The same seed does the same. */
export async function runSchedule(
  seed: number,
  options: ScheduleOptions = {},
): Promise<ScheduleResult> {
  const world = new World(seed, options)
  const deployment = new Deployment(world, options)
  const startMs = world.clock.now()
  deployment.start()
  world.tally.events += await world.clock.runUntil(startMs + CHAOS_MS)
  world.note('--- calm')
  world.faults = NO_FAULTS
  world.storeDownUntil = 0
  deployment.endOwners()
  const calmMs = startMs + CHAOS_MS
  for (let cooldownMs = MIN_REST_MS; cooldownMs <= BOUND_MS; cooldownMs += REST_STEP_MS) {
    world.tally.events += await world.clock.runUntil(calmMs + cooldownMs)
    if (await deployment.isAtRest()) break
  }
  await deployment.checkRest()
  deployment.stop()
  return { seed, violations: world.violations, tally: world.tally, trace: world.trace ?? [] }
}

class Deployment {
  readonly #world: World
  readonly #rules: SafetyRules
  readonly #store: FleetStore
  readonly #providers: readonly SimulatedProvider[]
  readonly #processes: ProcessClock[] = []
  readonly #owners: Owner[] = []
  readonly #ledger: LedgerWatcher
  readonly #wrongByMs: number | undefined
  readonly #sweepersAheadMs: number
  #foreign: readonly string[] = []
  #calmFailures = 0

  constructor(world: World, options: ScheduleOptions) {
    this.#world = world
    this.#rules = options.rules ?? safetyRules
    this.#wrongByMs = options.wrongByMs
    this.#sweepersAheadMs = options.sweepersAheadMs ?? 0
    this.#store = options.store ?? new MemoryFleetStore()
    this.#providers = [
      new SimulatedProvider(world, {
        name: 'lists',
        canList: true,
        isOwnerVisible: seedBit(world),
        onListed: () => this.#maybeAttach(),
      }),
      new SimulatedProvider(world, { name: 'blind', canList: false, isOwnerVisible: false }),
    ]
    const providerOf = (record: SandboxRecord): SimulatedProvider => this.#provider(record)
    const { maxKillsPerPass } = policy
    this.#ledger = new LedgerWatcher(world, { providerOf, maxKillsPerPass, skewMs: SKEW_MS })
  }

  start(): void {
    const { random } = this.#world
    this.#makeForeign()
    const owners = random.int(3, 12)
    for (let index = 0; index < owners; index += 1) this.#startOwner(index)
    const sweepers = random.int(1, 3)
    for (let index = 0; index < sweepers; index += 1) this.#startSweeper(`sweeper-${index}`)
    if (random.chance(0.3)) void this.#operate()
    const outages = random.int(0, 2)
    for (let index = 0; index < outages; index += 1) this.#planOutage()
  }

  endOwners(): void {
    for (const owner of this.#owners) {
      owner.clock.isDead = true
      if (owner.owned?.owner !== undefined) owner.owned.owner.isAlive = false
    }
  }

  stop(): void {
    for (const clock of this.#processes) clock.isDead = true
  }

  isAtRest(): Promise<boolean> {
    return isAtRest(this.#store, this.#providers)
  }

  checkRest(): Promise<void> {
    return checkRest(this.#world, this.#store, this.#providers, this.#foreign)
  }

  /** Sandboxes of others, and some that say of nobody. */
  #makeForeign(): void {
    const lists = this.#providers[0]!
    const createdAt = this.#world.clock.now() - 3_600_000
    const base = { createdAt, owner: undefined, keptUntil: 0, listedFrom: createdAt }
    lists.sandboxes.set('other-1', { ...base, id: 'other-1', environment: 'production' })
    lists.sandboxes.set('nobodys-1', { ...base, id: 'nobodys-1', environment: undefined })
    this.#foreign = ['other-1', 'nobodys-1']
    // Crashes long ago left these: ours, and in no ledger.
    const orphans = this.#world.random.chance(0.5) ? this.#world.random.int(1, 4) : 0
    for (let index = 0; index < orphans; index += 1) {
      const id = `orphan-${index}`
      lists.sandboxes.set(id, { ...base, id, environment: ENVIRONMENT })
    }
  }

  #planOutage(): void {
    const { clock, random } = this.#world
    const lengthMs = random.between(1000, 5 * MINUTE_MS)
    clock.setTimer(random.between(0, CHAOS_MS), () => {
      this.#world.storeDownUntil = clock.now() + lengthMs
      this.#world.note(`the ledger is down for ${lengthMs} ms`)
    })
  }

  #startOwner(index: number): void {
    const world = this.#world
    const name = `sb-${index}`
    const provider = this.#providers[world.random.int(0, 1)]!
    const { clock, offsetMs } = this.#drawClock()
    const isCutOff = (): boolean => world.clock.now() < owner.cutOffUntil
    const context = this.#context(name, clock, { isCutOff })
    const owner: Owner = { name, world, clock, context, provider, offsetMs, cutOffUntil: 0 }
    this.#owners.push(owner)
    void live(owner)
  }

  /** Behind a listing that says otherwise, the owner of a sandbox comes back, without the ledger. */
  #maybeAttach(): void {
    const { clock: time, faults, random } = this.#world
    const provider = this.#providers[0]!
    const left = [...provider.sandboxes.values()].filter(
      ({ environment, id, owner }) =>
        environment === ENVIRONMENT && owner === undefined && !provider.known.has(id),
    )
    const sandbox = left[random.int(0, left.length)]
    if (faults === NO_FAULTS || sandbox === undefined || random.chance(0.4)) return
    const { clock, offsetMs } = this.#drawClock()
    const isCutOff = (): boolean => this.#world.clock.now() < owner.cutOffUntil
    const context = this.#context(sandbox.id, clock, { isCutOff })
    const world = this.#world
    const owner: Owner = {
      name: sandbox.id,
      world,
      clock,
      context,
      provider,
      offsetMs,
      cutOffUntil: 0,
    }
    this.#owners.push(owner)
    time.setTimer(random.between(0, 3000), () => void attach(owner, sandbox))
  }

  #startSweeper(name: string): void {
    const ahead = this.#sweepersAheadMs
    const clock = ahead === 0 ? this.#drawClock().clock : this.#process(ahead)
    const pass = { kills: 0 }
    const context = this.#context(name, clock, { pass })
    void this.#sweep(name, context, clock, pass)
  }

  /** Somebody ends sandboxes by hand, twice at once, while everything else goes on. */
  async #operate(): Promise<void> {
    const { random } = this.#world
    const clock = this.#process(0)
    const context = this.#context('operator', clock, {})
    for (let round = 0; round < 3; round += 1) {
      await clock.sleep(random.between(MINUTE_MS, 10 * MINUTE_MS))
      const { records } = await this.#store.list({ environment: ENVIRONMENT })
      const chosen = records[random.int(0, records.length)]
      if (chosen === undefined) continue
      const real = this.#provider(chosen).sandboxes.get(chosen.id)
      if (real !== undefined) real.isCondemned = true
      const request = { reason: 'operator', detail: 'by hand', by: 'operator' } as const
      const end = () => terminateSandbox(context, chosen.id, request)
      await Promise.allSettled([end(), end()])
    }
  }

  async #sweep(
    name: string,
    context: FleetContext,
    clock: ProcessClock,
    pass: { kills: number },
  ): Promise<void> {
    const { random, tally } = this.#world
    for (let round = random.int(0, 2); ; round += 1) {
      await clock.sleep(random.between(1 * MINUTE_MS, 5 * MINUTE_MS))
      this.#maybeCrash(name, clock)
      pass.kills = 0
      if (round % 3 === 2) {
        const { items, outcome } = await runReconcile(context)
        tally.orphansEnded += items.filter((item) => item.kind === 'end-orphan').length
        tally.healed += items.filter((item) => item.outcome === 'healed').length
        if (outcome === 'lease-held') tally.leaseHeld += 1
        this.#checkPass(outcome)
      } else {
        const mode = random.chance(0.3) ? 'pressure' : 'scheduled'
        const { items, outcome } = await runCleanup(context, mode)
        tally.unknownProbes += items.filter((item) => item.outcome === 'unknown').length
        tally.retried += items.filter((item) => item.action === 'retry').length
        if (outcome === 'lease-held') tally.leaseHeld += 1
        this.#checkPass(outcome)
      }
    }
  }

  /** Without faults a pass does not fail. */
  #checkPass(outcome: PassOutcome): void {
    const isCalm = this.#world.faults === NO_FAULTS
    if (isCalm && outcome === 'store-failed') this.#calmFailures += 1
    if (this.#calmFailures > 3) this.#world.violate('passes fail without a fault')
  }

  /** In the middle of the pass that begins now; another process takes over later. */
  #maybeCrash(name: string, clock: ProcessClock): void {
    const world = this.#world
    if (world.faults.sweeperCrash === 0 || !world.random.chance(0.15)) return
    world.clock.setTimer(world.random.between(1, 2000), () => {
      clock.isDead = true
      world.tally.crashes += 1
      world.note(`${name}: crashes`)
      this.#startSweeper(`${name}+`)
    })
  }

  /** `offsetMs`: of what the process writes into the ledger. */
  #drawClock(): { readonly clock: ProcessClock; readonly offsetMs: number } {
    const { clock: time, random } = this.#world
    const most = this.#wrongByMs ?? SKEW_MS
    const offsetMs = random.between(-most, most)
    const clock = this.#process(offsetMs)
    if (this.#wrongByMs === undefined) return { clock, offsetMs }
    for (let leaps = 0; leaps < 5; leaps += 1) {
      const leapMs = random.between(-most, most)
      time.setTimer(random.between(0, CHAOS_MS), () => clock.leap(leapMs))
    }
    return { clock, offsetMs: 0 }
  }

  #process(offsetMs: number): ProcessClock {
    const clock = new ProcessClock(this.#world.clock, offsetMs)
    this.#processes.push(clock)
    return clock
  }

  #context(
    name: string,
    clock: ProcessClock,
    { pass, isCutOff }: { readonly pass?: { kills: number }; readonly isCutOff?: () => boolean },
  ): FleetContext {
    const isProcessDead = (): boolean => clock.isDead
    const process = { isDead: isProcessDead, untold: new Set<string>() }
    const watch = this.#ledger.watch(process, pass)
    const hasTime = this.#wrongByMs !== undefined
    const reach = { watch, isProcessDead, hasTime, ...(isCutOff !== undefined && { isCutOff }) }
    return createFleetContext(
      {
        store: unreliableStore(this.#store, this.#world, reach),
        drivers: this.#providers.map((provider) => provider.driver(process)),
        environment: ENVIRONMENT,
        policy,
        logger: noopLogger,
        clock,
        random: this.#world.random.next,
        instanceId: name,
      },
      this.#rules,
    )
  }

  #provider({ provider }: SandboxRecord): SimulatedProvider {
    return this.#providers.find(({ name }) => name === provider)!
  }
}

function seedBit({ random }: World): boolean {
  return random.chance(0.5)
}
