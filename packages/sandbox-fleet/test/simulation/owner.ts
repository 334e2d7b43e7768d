import { FleetError } from '@helix-agents/core/runtime'
import type { FleetContext } from '../../src/fleet-context.ts'
import {
  recordActivity,
  recordOpened,
  recordProvisioning,
  renewLease,
} from '../../src/report/ledger-writes.ts'
import {
  recordFailed,
  recordGone,
  recordOwed,
  recordReleased,
} from '../../src/report/ledger-ends.ts'
import type { SandboxRecord } from '@helix-agents/sandbox-fleet'
import type { RealSandbox, SimulatedProvider } from './simulated-provider.ts'
import type { ProcessClock } from './virtual-clock.ts'
import type { World } from './world.ts'

export interface Owner {
  readonly name: string
  readonly world: World
  readonly clock: ProcessClock
  readonly context: FleetContext
  readonly provider: SimulatedProvider
  /** Its clock minus the true time. */
  readonly offsetMs: number
  owned?: RealSandbox
  /** Until then the ledger is out of its reach. */
  cutOffUntil: number
}

/** An agent that makes a sandbox, uses it for a while, and ends in one of many ways. */
export async function live(owner: Owner): Promise<void> {
  const { clock, world } = owner
  await clock.sleep(world.random.between(0, 15 * 60_000))
  try {
    const sandbox = await open(owner)
    if (sandbox === undefined) return
    await use(owner, sandbox)
    await end(owner, sandbox)
    if (world.random.chance(0.5)) await resume(owner, sandbox)
  } catch (error) {
    // Whatever a broken ledger or provider does to it, an owner then simply stops.
    if (!(error instanceof Error)) throw error
    world.note(`${owner.name}: stops, ${error.message}`)
  }
  if (owner.owned?.owner !== undefined) owner.owned.owner.isAlive = false
}

/** Time within which an owner that attaches without the ledger must not lose its sandbox. */
const TELLS_WITHIN_MS = 60_000

/** An owner that attaches to a sandbox of which the ledger knows nothing, and reports it later. */
export async function attach(owner: Owner, sandbox: RealSandbox): Promise<void> {
  const { clock, name, provider, world } = owner
  const attachedAt = world.clock.now()
  // After the calm no owner comes any more, and a session has one owner at a time.
  if (clock.isDead || sandbox.owner !== undefined) return
  if (provider.sandboxes.get(name) !== sandbox || provider.intents.has(name)) return
  world.note(`${name}: an owner attaches`)
  world.tally.attached += 1
  owner.owned = sandbox
  sandbox.attachedAt = attachedAt
  const holdsUntil = attachedAt + TELLS_WITHIN_MS
  sandbox.owner = { isAlive: true, holdsUntil, deadlineAt: Number.MAX_SAFE_INTEGER }
  try {
    await clock.sleep(world.random.between(0, 50_000))
    await reopen(owner, sandbox)
    await use(owner, sandbox)
    await end(owner, sandbox)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    world.note(`${name}: stops, ${error.message}`)
  }
  sandbox.owner.isAlive = false
}

/** The session of a detached sandbox goes on: the ledger is asked before. */
async function resume(owner: Owner, sandbox: RealSandbox): Promise<void> {
  const { clock, name, provider, world } = owner
  if (sandbox.keptUntil <= world.clock.now()) return
  await clock.sleep(world.random.between(0, 3 * 60_000))
  if (provider.sandboxes.get(name) !== sandbox || sandbox.owner === undefined) return
  await reopen(owner, sandbox)
  sandbox.owner.isAlive = true
  sandbox.keptUntil = 0
  world.tally.resumed += 1
  await use(owner, sandbox)
  await end(owner, sandbox)
}

async function reopen(owner: Owner, sandbox: RealSandbox): Promise<void> {
  const { context, name, provider } = owner
  const description = { id: name, provider: provider.name, agentType: 'sim' }
  await again(owner, async () => {
    const stored = await recordOpened(context, description, name)
    noteHold(owner, sandbox, stored.lease?.until ?? 0, endOf(stored))
  })
}

/** When the ledger may end it though its owner holds it; never for what is critical. */
function endOf({ deadlineAt, holdDeadlineAt }: SandboxRecord): number {
  const never = Number.MAX_SAFE_INTEGER
  return Math.min(deadlineAt ?? never, holdDeadlineAt ?? never)
}

async function open(owner: Owner): Promise<RealSandbox | undefined> {
  const { context, name, provider, world } = owner
  const maxLifetime = world.random.chance(0.2) ? { maxLifetimeMs: 12 * 60_000 } : {}
  const critical = world.random.chance(0.2)
  const kind = { agentType: 'sim', critical, ...maxLifetime }
  const description = { id: name, provider: provider.name, ...kind }
  const isLate = provider.name === 'lists' && world.random.chance(0.3)
  if (!isLate) await recordProvisioning(context, description, { holder: name, maxActive: 8 })
  maybeCrash(owner)
  let sandbox: RealSandbox
  try {
    sandbox = await provider.create(name)
  } catch (error) {
    if (!isLate) await recordFailed(context, name, { code: 'open', message: String(error) })
    return undefined
  }
  if (owner.clock.isDead) return new Promise(() => undefined)
  owner.owned = sandbox
  sandbox.owner = { isAlive: true, holdsUntil: 0, deadlineAt: Number.MAX_SAFE_INTEGER }
  maybeCrash(owner)
  if (isLate) await owner.clock.sleep(world.random.between(0, 50_000))
  await again(owner, async () => {
    const stored = await recordOpened(context, description, name)
    noteHold(owner, sandbox, stored.lease?.until ?? 0, endOf(stored))
  })
  return sandbox
}

async function use(owner: Owner, sandbox: RealSandbox): Promise<void> {
  const { clock, context, name, world } = owner
  const isQuiet = world.random.chance(0.3)
  const rounds = isQuiet ? world.random.int(14, 26) : world.random.int(1, 12)
  if (world.random.chance(0.15)) {
    owner.cutOffUntil = world.clock.now() + world.random.between(60_000, 20 * 60_000)
  }
  for (let round = 0; round < rounds; round += 1) {
    await clock.sleep(world.random.between(30_000, 70_000))
    maybeCrash(owner)
    // As it is written, whatever its own clock says.
    const until = world.clock.now() + owner.offsetMs + context.policy.ownerLeaseMs
    const isBusy = !isQuiet && world.random.chance(0.5)
    try {
      const isUsable = isBusy
        ? await recordActivity(context, name, activity(owner))
        : await renewLease(context, name, { holder: name })
      if (!isUsable) throw new Error('my sandbox was taken')
      noteHold(owner, sandbox, until, undefined)
    } catch (error) {
      if (!FleetError.isInstance(error) || !error.transient) throw error
    }
  }
}

function activity({ context, name, world }: Owner) {
  const timeouts = world.random.chance(0.1) ? 1 : 0
  const succeeded = timeouts === 0
  return {
    at: context.clock.now(),
    operations: 1,
    timeouts,
    timeoutsInARow: timeouts,
    succeeded,
    holder: name,
  }
}

async function end(owner: Owner, sandbox: RealSandbox): Promise<void> {
  const { context, name, provider, world } = owner
  const way = world.random.int(0, 4)
  if (sandbox.owner !== undefined) sandbox.owner.isAlive = false
  if (way === 0) {
    provider.remove(name)
    await again(owner, () => recordGone(context, name, { detail: 'closed by its owner' }))
  } else if (way === 1) {
    await again(owner, () => recordOwed(context, name, { detail: 'the close timed out' }))
  } else if (way === 2) {
    const lastsMs = 4 * 60_000
    const keptUntil = world.clock.now() + lastsMs
    await again(owner, async () => {
      const waiting = { kind: 'detached', holder: name, lastsMs } as const
      await recordReleased(context, name, { holder: name, waiting })
      const stored = await context.store.get(name)
      if (stored?.lease?.kind !== 'detached') return
      const deadlineAt = sandbox.owner?.deadlineAt ?? Number.MAX_SAFE_INTEGER
      sandbox.keptUntil = Math.min(keptUntil, deadlineAt)
    })
  } else if (way === 3) {
    const waiting = { kind: 'pool', holder: 'pool', lastsMs: 60_000 } as const
    await again(owner, () => recordReleased(context, name, { holder: name, waiting }))
  }
}

/** From now on the ledger is known to hold the lease, in true time. */
function noteHold(
  owner: Owner,
  sandbox: RealSandbox,
  until: number,
  deadlineAt: number | undefined,
): void {
  if (sandbox.owner === undefined || owner.clock.isDead) return
  sandbox.owner.holdsUntil = until - owner.offsetMs
  if (deadlineAt !== undefined) sandbox.owner.deadlineAt = deadlineAt - owner.offsetMs - 10_000
}

/** Owners try harder than once to tell the ledger. */
async function again(owner: Owner, work: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const isTransient = FleetError.isInstance(error) && error.transient
      if (!isTransient || attempt === 5) throw error
      await owner.clock.sleep(1000)
    }
  }
}

function maybeCrash(owner: Owner): void {
  const { clock, name, world } = owner
  if (!world.strikes('ownerCrash') || world.random.chance(0.7)) return
  world.note(`${name}: crashes`)
  world.tally.crashes += 1
  clock.isDead = true
  if (owner.owned?.owner !== undefined) owner.owned.owner.isAlive = false
  throw new Error('crashed')
}
