// Random schedules of three processes with wrong clocks: killed, frozen, cut off and slow.
// `HELIX_SEED` repeats the choices of a run, as far as timing allows.
import { systemClock } from '@helix-agents/core'
import { TestSampler } from '@helix-agents/core/testing'
import type { PostgresStores } from '@helix-agents/store-postgres'
import { expect, test } from 'vitest'
import { emptyPlace, opened } from '../opened.ts'
import type { CrashPlan } from './crash-plan.ts'
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
      for (let n = left.pop(); n !== undefined && findings.length === 0; n = left.pop()) {
        findings.push(...(await runSchedule(n, url, stores)))
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    expect({ seed: sampler.seed, findings }).toEqual({ seed: sampler.seed, findings: [] })
  },
)

async function runSchedule(
  number: number,
  url: string,
  stores: PostgresStores,
): Promise<readonly string[]> {
  const sessionIds = [`${number} a`, `${number} b`]
  const plan = { sessionIds, steps: STEPS, leaseMs: LEASE_MS, pauseMs: LEASE_MS / 3 }
  const effects: string[] = []
  const faults = faultsOf(number)
  const keep = (process: number) =>
    keepOne({ url, plan, process, record: (id) => effects.push(id) }, faults)
  await Promise.all(CLOCKS.map((_, process) => keep(process)))
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

interface Place {
  readonly url: string
  readonly plan: CrashPlan
  readonly process: number
  readonly record: (id: string) => void
}

/** A process, and those that take its place when it is killed, until one finds everything done. */
async function keepOne(
  { url, plan, process, record }: Place,
  faults: readonly Fault[],
): Promise<void> {
  const own = faults.filter((fault) => fault.process === process)
  const startedAt = systemClock.now()
  const worker = { plan: { ...plan, begins: process === 0 }, record }
  const start = () => SimulatedProcess.start(url, worker, CLOCKS[process] ?? 0)
  const all: SimulatedProcess[] = []
  let struck = 0
  for (;;) {
    const living = await start()
    all.push(living)
    let isOver = false
    const ended = living.ended.finally(() => (isOver = true))
    const strikes = (async () => {
      for (let fault = own[struck]; fault !== undefined; fault = own[struck]) {
        await systemClock.sleep(Math.max(0, startedAt + fault.atMs - systemClock.now()))
        if (isOver) return
        struck++
        await strike(living, fault)
        if (living.isDead) return
      }
    })()
    await Promise.all([ended, strikes])
    if (!living.isDead) break
  }
  await Promise.all(all.map((one) => one.close()))
}

async function strike(process: SimulatedProcess, { kind }: Fault): Promise<void> {
  if (kind === 'kill') process.kill()
  if (kind === 'cut') process.cut()
  if (kind === 'freeze') await process.freeze(2 * LEASE_MS)
  if (kind === 'slow') await process.slow(10, LEASE_MS)
}
