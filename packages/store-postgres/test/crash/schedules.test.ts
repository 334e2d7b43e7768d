// Random schedules of three processes with wrong clocks: killed, frozen, cut off and slow.
// `HELIX_SEED` repeats the choices of a run, as far as timing allows.
import { systemClock } from '@helix-agents/core'
import { TestSampler } from '@helix-agents/core/testing'
import type { PostgresStores } from '@helix-agents/store-postgres'
import { expect, test } from 'vitest'
import { emptyPlace, opened } from '../opened.ts'
import type { CrashWorker } from './crash-worker.ts'
import { judge } from './judge.ts'
import { CLOCKS, SimulatedProcess } from './simulated-process.ts'

const sampler = new TestSampler()
const schedules = sampler.size(10_000, 4)
/** Schedules beside each other. */
const LANES = 6
const LEASE_MS = 300
const STEPS = 4
const MAX_FAULTS = 5
const FAULTS_WITHIN_MS = 500
const KINDS = ['kill', 'freeze', 'cut', 'slow'] as const

interface Fault {
  readonly kind: (typeof KINDS)[number]
  readonly process: number
  readonly atMs: number
}

test(
  `${schedules} schedules lose no step and double no effect`,
  { timeout: sampler.size(7_200_000, 600_000) },
  async () => {
    const url = await emptyPlace()
    const stores = await opened(url)
    const findings: string[] = []
    const left = Array.from({ length: schedules }, (_, n) => n)
    const lane = async (): Promise<void> => {
      const places = CLOCKS.map((_, number) => new Place(url, number))
      for (let n = left.pop(); n !== undefined && findings.length === 0; n = left.pop()) {
        findings.push(...(await runSchedule(n, places, stores)))
      }
      await Promise.all(places.map((place) => place.close()))
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    expect({ seed: sampler.seed, findings }).toEqual({ seed: sampler.seed, findings: [] })
  },
)

async function runSchedule(
  number: number,
  places: readonly Place[],
  stores: PostgresStores,
): Promise<readonly string[]> {
  const sessionIds = [`${number} a`, `${number} b`]
  const plan = { sessionIds, steps: STEPS, leaseMs: LEASE_MS, pauseMs: LEASE_MS / 2 }
  const effects: string[] = []
  const faults = faultsOf(number)
  const record = (id: string) => effects.push(id)
  await Promise.all(places.map((place) => place.work({ plan, record }, faults)))
  const findings = await judge(stores, plan, effects)
  return findings.map((finding) => `${finding}: ${JSON.stringify(faults)}`)
}

function faultsOf(number: number): readonly Fault[] {
  const random = sampler.random(`schedule ${number}`)
  const whole = (below: number): number => Math.floor(random() * below)
  return Array.from({ length: 1 + whole(MAX_FAULTS) }, () => ({
    kind: KINDS[whole(KINDS.length)] ?? 'cut',
    process: whole(CLOCKS.length),
    atMs: whole(FAULTS_WITHIN_MS),
  })).toSorted((a, b) => a.atMs - b.atMs)
}

/** One of the three processes of a lane, over many schedules: started anew when it was killed. */
class Place {
  readonly #url: string
  readonly #number: number
  readonly #closing: Promise<void>[] = []
  #living: SimulatedProcess | undefined

  constructor(url: string, number: number) {
    this.#url = url
    this.#number = number
  }

  /** Works, through its faults and deaths, until everything is done. */
  async work(given: Pick<CrashWorker, 'plan' | 'record'>, faults: readonly Fault[]): Promise<void> {
    const worker = { ...given, plan: { ...given.plan, begins: this.#number === 0 } }
    const left = faults.filter((fault) => fault.process === this.#number)
    const startedAt = systemClock.now()
    for (let isDone = false; !isDone;) {
      const living = await this.#process()
      let isOver = false
      const ended = living.work(worker).finally(() => (isOver = true))
      const strikes = strikeAll(living, { left, startedAt, isOver: () => isOver })
      await Promise.all([ended, strikes])
      isDone = !living.isDead
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#closing, this.#living?.close()])
  }

  async #process(): Promise<SimulatedProcess> {
    if (this.#living?.isDead === true) this.#closing.push(this.#living.close())
    if (this.#living?.isDead !== false) {
      this.#living = await SimulatedProcess.start(this.#url, CLOCKS[this.#number] ?? 0)
    }
    return this.#living
  }
}

interface Strikes {
  readonly left: Fault[]
  readonly startedAt: number
  readonly isOver: () => boolean
}

/** Until the process is dead, or its work over. */
async function strikeAll(
  living: SimulatedProcess,
  { left, startedAt, isOver }: Strikes,
): Promise<void> {
  for (let fault = left.shift(); fault !== undefined; fault = left.shift()) {
    await systemClock.sleep(Math.max(0, startedAt + fault.atMs - systemClock.now()))
    if (isOver()) return
    await strike(living, fault)
    if (living.isDead) return
  }
}

async function strike(process: SimulatedProcess, { kind }: Fault): Promise<void> {
  if (kind === 'kill') process.kill()
  if (kind === 'cut') process.cut()
  if (kind === 'freeze') await process.freeze(2 * LEASE_MS)
  if (kind === 'slow') await process.slow(10, LEASE_MS)
}
