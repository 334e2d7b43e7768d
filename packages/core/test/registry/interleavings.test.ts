import {
  FileSystemError,
  HelixError,
  type OpenWorkspace,
  StateStoreError,
  WorkspaceEvictedError,
} from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import { WorkspaceRegistry } from '@helix-agents/core/runtime'
import { ManualClock, TestSampler } from '@helix-agents/core/testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChaosProvider, type Fault, type Handle } from './chaos-provider.ts'
import { declare, ref } from './harness.ts'

const sampler = new TestSampler()
const NAMES = ['a', 'b', 'c'] as const
const STATES = ['declared', 'opening', 'open', 'evicted', 'failed', 'closing', 'closed']

const name = fc.constantFrom(...NAMES)
const delayMs = fc.constantFrom(0, 0, 0, 1, 50, 2000)
const fault: fc.Arbitrary<Fault> = fc.record({
  delayMs,
  result: fc.constantFrom(
    'ok',
    'ok',
    'ok',
    'ok',
    'transient',
    'permanent',
    'foreign',
    'evicted',
    'incapable',
  ),
})
const ending = fc.constantFrom('ok', 'ok', 'gone', 'gone-unadmitted', 'lost', 'answer')

const use = fc.record({
  type: fc.constant('use'),
  name,
  idempotent: fc.boolean(),
  delayMs,
  ending,
  abortAfterTurns: fc.option(fc.nat(30)),
})
const action = fc.oneof(
  { weight: 8, arbitrary: use },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('acquire'), name }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('reset'), name }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('switch'), name }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('advance'),
      ms: fc.constantFrom(1, 60, 3000, 40_000),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('turns'), count: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('close'),
      mode: fc.constantFrom('end', 'detach'),
    }),
  },
)
type Use = typeof use extends fc.Arbitrary<infer T> ? T : never
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

const scenario = fc.record({
  actions: fc.array(action, { maxLength: 40, size: 'max' }),
  faults: fc.array(fault, { minLength: 1, maxLength: 12 }),
  storeFaults: fc.array(fc.record({ delayMs, fails: fc.constantFrom(false, false, true) }), {
    minLength: 1,
    maxLength: 5,
  }),
  lastMode: fc.constantFrom<('end' | 'detach')[]>('end', 'detach'),
  honoursSignal: fc.boolean(),
  maxConcurrentOpens: fc.integer({ min: 1, max: 3 }),
  transientRetryAttempts: fc.nat(3),
  resetAfterMs: fc.constantFrom(undefined, 2000),
  openTimeoutMs: fc.constantFrom(undefined, 1000),
  onLost: fc.constantFrom<('reopen' | 'fail')[]>('reopen', 'fail'),
  leftBehind: fc.subarray([...NAMES]),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

const left = Symbol('the caller left')

/** Runs a scenario against a registry, and writes down whatever must not happen. */
class World {
  readonly violations: string[] = []
  readonly #clock = new ManualClock()
  readonly #persisted = new Map<string, WorkspaceRef>()
  /** Backends whose ref was stored at some time: they can be found again. */
  readonly #known = new Set<string>()
  readonly #provider: ChaosProvider
  readonly #registry: WorkspaceRegistry
  readonly #scenario: Scenario
  readonly #pending = new Set<Promise<unknown>>()
  #storeCalls = 0
  #isClosed = false

  constructor(plan: Scenario) {
    this.#scenario = plan
    const { openTimeoutMs } = plan
    this.#provider = new ChaosProvider({
      clock: this.#clock,
      faults: plan.faults,
      // A provider that ignores its signal goes on after its time, beyond any bound.
      maxConcurrentOpens:
        plan.honoursSignal || openTimeoutMs === undefined ? plan.maxConcurrentOpens : undefined,
      honoursSignal: plan.honoursSignal,
      violations: this.violations,
    })
    for (const each of plan.leftBehind) {
      this.#provider.stored.add(`old-${each}`)
      this.#persisted.set(each, ref(`old-${each}`))
      this.#known.add(`old-${each}`)
    }
    this.#registry = new WorkspaceRegistry(
      Object.fromEntries(NAMES.map((each) => [each, declare(each, { onLost: plan.onLost })])),
      {
        providers: new Map([['fake', this.#provider]]),
        session: { sessionId: 's', agentType: 'a' },
        refs: Object.fromEntries(this.#persisted),
        persistRef: (workspace, value) => this.#persist(workspace, value),
        clock: this.#clock,
        random: () => 0.5,
        closeTimeoutMs: 5000,
        maxConcurrentOpens: plan.maxConcurrentOpens,
        transientRetryAttempts: plan.transientRetryAttempts,
        ...(plan.resetAfterMs !== undefined && { resetAfterMs: plan.resetAfterMs }),
        ...(openTimeoutMs !== undefined && { openTimeoutMs }),
      },
    )
  }

  async run(): Promise<void> {
    for (const each of this.#scenario.actions) {
      await this.#act(each)
      this.#observe()
    }
    this.#close(this.#scenario.lastMode)
    for (let round = 0; round < 20 && this.#pending.size > 0; round++) {
      await this.#clock.advance(60_000)
    }
    // What was released late is let go as well.
    await this.#clock.advance(120_000)
    this.#observe()
    this.#checkEnd()
  }

  async #act(each: Action): Promise<void> {
    if (each.type === 'use') this.#use(each)
    else if (each.type === 'acquire') this.#watch(this.#registry.acquire(each.name))
    else if (each.type === 'switch') this.#switch(each.name)
    else if (each.type === 'advance') await this.#clock.advance(each.ms)
    else if (each.type === 'turns') await turns(each.count)
    else if (each.type === 'close') this.#close(each.mode)
    else if (!this.#isClosed) this.#registry.reset(each.name)
  }

  #use(each: Use): void {
    const abort = new AbortController()
    let wasGone = false
    const operation = async (opened: OpenWorkspace): Promise<void> => {
      this.#checkStart(opened)
      if (each.delayMs > 0) await this.#clock.sleep(each.delayMs)
      if (each.ending === 'answer') throw new FileSystemError('not-found', '/x')
      if (each.ending === 'ok' || wasGone) return
      wasGone = true
      const handle = this.#provider.handleOf(opened.live)
      handle.isEvicted = true
      if (each.ending === 'lost') this.#provider.stored.delete(handle.id)
      throw new WorkspaceEvictedError('gone', {
        admitted: each.ending === 'gone-unadmitted' ? 'no' : 'unknown',
      })
    }
    const { idempotent } = each
    this.#watch(this.#registry.use(each.name, operation, { idempotent, signal: abort.signal }))
    if (each.abortAfterTurns !== null) {
      void turns(each.abortAfterTurns).then(() => abort.abort(left))
    }
  }

  #switch(workspace: string): void {
    const id = `fork-${this.#provider.handles.length}`
    this.#provider.stored.add(id)
    this.#watch(this.#registry.switchTo(workspace, ref(id)))
  }

  #close(mode: string): void {
    this.#isClosed = true
    this.#watch(this.#registry.close({ mode: mode === 'end' ? 'end' : 'detach' }))
  }

  #checkStart({ live }: OpenWorkspace): void {
    const handle = this.#provider.handleOf(live)
    if (this.#isClosed) this.violations.push(`${live.id} is used after the close`)
    if (handle.releases.length > 0) this.violations.push(`${live.id} is used after its release`)
    if (!this.#known.has(live.id)) this.violations.push(`${live.id} is used before it is stored`)
  }

  /** Only framework errors, and the caller's own reason, may come out. */
  #watch(promise: Promise<unknown>): void {
    const watched = promise
      .catch((error: unknown) => {
        if (error !== left && !HelixError.isInstance(error)) this.violations.push(String(error))
      })
      .finally(() => this.#pending.delete(watched))
    this.#pending.add(watched)
  }

  #observe(): void {
    for (const { state, name: workspace } of this.#registry.describe()) {
      if (!STATES.includes(state)) this.violations.push(`${workspace} is ${state}`)
    }
  }

  async #persist(workspace: string, value: WorkspaceRef | null): Promise<void> {
    const { storeFaults } = this.#scenario
    const { delayMs: ms, fails } = storeFaults[this.#storeCalls++ % storeFaults.length]!
    if (ms > 0) await this.#clock.sleep(ms)
    if (fails) throw new StateStoreError('unavailable', 's', 'no answer')
    if (value === null) this.#persisted.delete(workspace)
    else this.#persisted.set(workspace, value)
    if (value !== null) this.#known.add((value.ref as { id: string }).id)
  }

  #checkEnd(): void {
    if (this.#pending.size > 0) this.violations.push(`${this.#pending.size} calls never ended`)
    for (const { state } of this.#registry.describe()) {
      if (state !== 'closed') this.violations.push(`a workspace ended as ${state}`)
    }
    for (const handle of this.#provider.handles) this.#checkRelease(handle)
  }

  #checkRelease({ id, releases, isEvicted, isFresh }: Handle): void {
    if (releases.length > 1) this.violations.push(`${id} is released ${releases.length} times`)
    if (releases.length === 0 && !isEvicted) this.violations.push(`${id} is leaked`)
    const isFindable = this.#known.has(id) || releases[0] === 'close'
    if (isFresh && !isFindable) this.violations.push(`nobody can find ${id}`)
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

test('whatever happens in whichever order, the registry keeps its promises', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (plan) => {
      const world = new World(plan)
      await world.run()
      expect(world.violations).toEqual([])
    }),
    { numRuns: sampler.size(3000, 600), seed: sampler.seedOf('scenarios') },
  )
}, 120_000)
