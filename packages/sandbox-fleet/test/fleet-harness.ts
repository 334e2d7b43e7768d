import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import {
  type FleetDriver,
  type FleetPolicyInput,
  type FleetStore,
  type ListedSandbox,
  MemoryFleetStore,
  type SandboxProbe,
  type SandboxRecord,
  type SandboxTarget,
} from '@helix-agents/sandbox-fleet'
import type { FleetContext, FleetEvent } from '../src/fleet-context.ts'
import { createFleetContext } from '../src/fleet-options.ts'
import { applyEvent, createRecord } from '../src/ledger/lifecycle.ts'
import type { NewSandbox } from '../src/ledger/sandbox-record.ts'
import { type SafetyRules, safetyRules } from '../src/safety/safety-rules.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

/** A provider that does what a test says. */
export class FakeDriver implements FleetDriver {
  readonly provider = 'fake'
  /** What is there. */
  readonly alive = new Map<string, Omit<ListedSandbox, 'id'>>()
  /** Every call, in order. */
  readonly calls: string[] = []
  isComplete = true
  onInspect: (target: SandboxTarget) => Promise<SandboxProbe> | SandboxProbe = ({ id }) => {
    const one = this.alive.get(id)
    if (one === undefined) return { state: 'absent' }
    return { state: 'running', ...(one.ownerAlive !== undefined && { ownerAlive: one.ownerAlive }) }
  }
  onTerminate: (target: SandboxTarget) => Promise<void> | void = ({ id }) => {
    this.alive.delete(id)
  }
  onList: () => void = () => {}

  async list() {
    this.calls.push('list')
    this.onList()
    const sandboxes = [...this.alive].map(([id, one]) => ({ id, ...one }))
    return { isComplete: this.isComplete, sandboxes }
  }

  async inspect(target: SandboxTarget) {
    this.calls.push(`inspect ${target.id}`)
    return this.onInspect(target)
  }

  async terminate(target: SandboxTarget) {
    this.calls.push(`terminate ${target.id}`)
    await this.onTerminate(target)
  }

  async logs({ id }: SandboxTarget) {
    this.calls.push(`logs ${id}`)
    return `logs of ${id}`
  }

  async resources({ id }: SandboxTarget) {
    this.calls.push(`resources ${id}`)
    return { cpuPercent: 95, memoryMb: 120 }
  }

  get terminated(): readonly string[] {
    return this.calls.filter((call) => call.startsWith('terminate ')).map((call) => call.slice(10))
  }
}

export interface Setup {
  readonly rules?: SafetyRules
  readonly policy?: FleetPolicyInput
  readonly store?: FleetStore
  readonly clock?: ManualClock
  readonly driver?: FakeDriver
  readonly instanceId?: string
}

/** The parts of a fleet over one fake provider. */
export function setup(options: Setup = {}) {
  const clock = options.clock ?? new ManualClock(1_700_000_000_000)
  const store = options.store ?? new MemoryFleetStore()
  const driver = options.driver ?? new FakeDriver()
  const logger = new RecordingLogger()
  const events: FleetEvent[] = []
  const context = createFleetContext(
    {
      store,
      drivers: [driver],
      environment: 'test',
      policy: { callRetries: 0, ...options.policy },
      clock,
      logger,
      random: () => 0.5,
      instanceId: options.instanceId ?? 'me',
      onEvent: (event) => void events.push(event),
    },
    options.rules ?? safetyRules,
  )
  return { clock, context, driver, events, logger, store }
}

export type Fleetlet = ReturnType<typeof setup>

/** Runs work to its end, moving the time as far as it needs. */
export async function finish<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  const progress = { isDone: false }
  const watched = work.finally(() => {
    progress.isDone = true
  })
  watched.catch(() => undefined)
  for (let turn = 0; turn < 500 && !progress.isDone; turn += 1) {
    await clock.advance(turn < 20 ? 0 : 5000)
  }
  return watched
}

export interface Given extends Partial<NewSandbox> {
  /** How long ago it was made, and used. Default an hour. */
  readonly ageMs?: number
  readonly idleMs?: number
  readonly status?: 'provisioning' | 'running' | 'failed'
}

/** Puts a sandbox into the ledger and at the provider: an hour old, idle, and held by nobody. */
export async function given(
  { clock, driver, store }: Pick<Fleetlet, 'clock' | 'driver' | 'store'>,
  id: string,
  { ageMs = HOUR_MS, idleMs = ageMs, status = 'running', ...fields }: Given = {},
): Promise<SandboxRecord> {
  const createdAt = clock.now() - ageMs
  const record = createRecord({
    id,
    provider: 'fake',
    environment: 'test',
    createdAt,
    provisionDeadlineAt: createdAt + 2 * MINUTE_MS,
    ...fields,
  })
  driver.alive.set(id, { createdAt, environment: fields.environment ?? 'test' })
  await store.create(record)
  if (status === 'provisioning') return record
  const error = { code: 'broken', message: 'test' }
  const event =
    status === 'running' ? ({ type: 'started' } as const) : ({ type: 'fail', error } as const)
  const next = { ...applyEvent(record, event, createdAt), lastActivityAt: clock.now() - idleMs }
  await store.update(next)
  return next
}

export async function statusOf(store: FleetStore, id: string): Promise<string | undefined> {
  return (await store.get(id))?.status
}

export type { FleetContext }
