// The harness can fail: each measurement accepts a tool that behaves, and catches one that holds the
// event loop, one that allocates, and one that ignores an abort. What a call costs is scripted there;
// the measurement of Node is tested by itself, with real work.
import { type Tool, WorkspaceFailedError } from '@helix-agents/core'
import type { Workspace } from '@helix-agents/core/provider'
import { ConformanceError, type Runner } from '@helix-agents/workspace-conformance'
import {
  type BoundBehaviour,
  boundBehaviours,
  BoundSubject,
  type BoundTarget,
  createNodeWorkHost,
  defineBounds,
  MAX_PEAK_BYTES,
  measureLeastHold,
  measureWork,
  type WorkHost,
} from '@helix-agents/workspace-conformance/bounds'
import { describe, expect, test } from 'vitest'
import { createReference } from '../reference/file-system.ts'
import { createInertModules, STORED_OUTPUT } from '../reference/inert-modules.ts'

/** So little that the reference, which is not made to be fast, stays within all bounds. */
const SCALE = {
  textBytes: 2_000,
  slowTextBytes: 2_000,
  entries: 10,
  edits: 5,
  depth: 10,
  sparseBytes: 1_000,
}

/** Costs nothing but what a sabotaged tool adds. */
class ScriptedHost implements WorkHost {
  #cpuMs = 0
  #peakBytes = 0

  readonly cpuMs = (): number => this.#cpuMs
  readonly startPeak = (): (() => number) => {
    const before = this.#peakBytes
    return () => this.#peakBytes - before
  }
  readonly everyTurn = (callback: () => void): (() => void) => {
    const timer = setInterval(callback, 1)
    return () => clearInterval(timer)
  }

  hold(ms: number): void {
    this.#cpuMs += ms
  }

  allocate(bytes: number): void {
    this.#peakBytes += bytes
  }
}

const scripted = new ScriptedHost()

const HELD_MS = 120
const ALLOCATED_BYTES = MAX_PEAK_BYTES * 1.5

type Execute = Tool['execute']
type Sabotage = (good: Execute) => Execute

const holds: Sabotage = (good) => async (input, context) => {
  scripted.hold(HELD_MS)
  return good(input, context)
}
const allocates: Sabotage = (good) => async (input, context) => {
  scripted.allocate(ALLOCATED_BYTES)
  return good(input, context)
}
/** Works until it is aborted, turn by turn. */
const obeys: Sabotage =
  () =>
  async (_, { abortSignal }) => {
    for (;;) {
      await nextTurn()
      abortSignal.throwIfAborted()
    }
  }
const isDeaf: Sabotage = (good) => (input, context) =>
  good(input, { ...context, abortSignal: new AbortController().signal })

const isSilent: Sabotage = (good) => (input, context) =>
  good(input, { ...context, progress: () => undefined })

const rejects: Sabotage = () => () =>
  Promise.reject(new WorkspaceFailedError('provider-failed', 'too many files'))

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

async function run(
  behaviour: BoundBehaviour,
  sabotage: Sabotage,
  more: Partial<BoundTarget> = {},
): Promise<unknown> {
  const workspace: Workspace = {
    id: 'box',
    isolation: 'none',
    fs: createReference(),
    ...createInertModules(),
    close: async () => undefined,
  }
  await workspace.fs!.writeFile(STORED_OUTPUT, 'y\n'.repeat(1000))
  const subject = new BoundSubject({
    provider: 'reference',
    workspace,
    capabilities: { fs: true, shell: true, code: true, snapshot: true, branch: true },
    host: scripted,
    scale: SCALE,
    plants: {
      deepTree: () => workspace.fs!.writeFile('/deep/a', '').then(() => undefined),
      sparseFile: (path) => workspace.fs!.writeFile(path, '').then(() => undefined),
    },
    wrapTool: (tool) => sabotaged(tool, sabotage, behaviour),
    ...more,
  })
  return behaviour.run(subject).then(
    () => undefined,
    (error: unknown) => error,
  )
}

function isWarmUp(input: unknown): boolean {
  return JSON.stringify(input).includes('warm-up')
}

function sabotaged(tool: Tool, sabotage: Sabotage, behaviour: BoundBehaviour): Tool {
  const [, measured] = behaviour.id.split('/')
  if (tool.name !== `workspace__box__${measured}`) return tool
  const good: Execute = (input, context) => tool.execute(input, context)
  const broken = sabotage(good)
  const execute: Execute = (input, context) => (isWarmUp(input) ? good : broken)(input, context)
  const { name, description, annotations, parameters } = tool
  return {
    name,
    description,
    annotations,
    parameters,
    execute,
    parse: (input) => parse(tool, input, sabotage),
    toModelOutput: (output) => tool.toModelOutput(output),
  }
}

/** Rejected input never reaches the work: what is broken holds here. */
function parse(tool: Tool, input: unknown, sabotage: Sabotage): unknown {
  try {
    return tool.parse(input)
  } catch (error) {
    if (sabotage === holds) scripted.hold(HELD_MS)
    if (sabotage === allocates) scripted.allocate(ALLOCATED_BYTES)
    throw error
  }
}

const abortable = boundBehaviours.filter(({ id }) => id.endsWith('-obeys-an-abort'))
const measured = boundBehaviours.filter((behaviour) => !abortable.includes(behaviour))

test('ids are unique', () => {
  const ids = boundBehaviours.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

const failsFor = (reason: string) => ({
  name: 'ConformanceError',
  message: expect.stringContaining(reason),
})

describe.each(measured)('$id', (behaviour) => {
  test('catches what holds the event loop', async () => {
    expect(await run(behaviour, holds)).toMatchObject(failsFor('the event loop held'))
  })
  test('catches what allocates', async () => {
    expect(await run(behaviour, allocates)).toMatchObject(failsFor('bytes more'))
  })
})

describe.each(abortable)('$id', (behaviour) => {
  test('accepts what obeys', async () => {
    expect(await run(behaviour, obeys)).toBeUndefined()
  })
  test('catches what does not hear', async () => {
    expect(await run(behaviour, isDeaf)).toBeInstanceOf(ConformanceError)
  })
})

test('progress that is lost is noticed', async () => {
  const [behaviour] = boundBehaviours.filter(({ id }) => id.includes('progress'))
  expect(await run(behaviour!, (good) => good)).toBeUndefined()
  expect(await run(behaviour!, isSilent)).toBeInstanceOf(ConformanceError)
})

test('only a limit that is documented allows to reject a snapshot of many entries', async () => {
  const [behaviour] = boundBehaviours.filter(({ id }) => id === 'bounds/snapshot/many-entries')
  const limit = { maxSnapshotEntries: SCALE.entries }
  expect(await run(behaviour!, rejects)).toMatchObject(failsFor('ok, got provider-failed'))
  expect(await run(behaviour!, rejects, limit)).toBeUndefined()
  expect(await run(behaviour!, (good) => good)).toBeUndefined()
  expect(await run(behaviour!, (good) => good, limit)).toMatchObject(failsFor('provider-failed'))
})

/** A workspace whose deep directories hold the loop. */
function referenceTarget(heldMs: number): Omit<BoundTarget, 'scale'> {
  const workspace: Workspace = {
    id: 'box',
    isolation: 'none',
    fs: createReference(),
    close: async () => undefined,
  }
  const capabilities = { fs: true, shell: false, code: false, snapshot: false, branch: false }
  const sabotage: Sabotage = (good) => async (input, context) => {
    scripted.hold(heldMs)
    return good(input, context)
  }
  const [behaviour] = boundBehaviours.filter(({ id }) => id === 'bounds/mkdir/a-deep-path')
  const wrapTool = (tool: Tool): Tool => sabotaged(tool, sabotage, behaviour!)
  return { provider: 'reference', workspace, capabilities, host: scripted, wrapTool }
}

const host = createNodeWorkHost(process)

function spin(cpuMs: number): void {
  const end = host.cpuMs() + cpuMs
  while (host.cpuMs() < end);
}

test('a hold is processor time between two turns, not the time of the whole call', async () => {
  const inTurns = await measureWork(host, async () => {
    for (let i = 0; i < 10; i += 1) {
      spin(20)
      await nextTurn()
      await nextTurn()
    }
  })
  expect(inTurns.cost.holdMs).toBeGreaterThanOrEqual(20)
  expect(inTurns.cost.holdMs).toBeLessThan(150)
  const inMicrotasks = await measureWork(host, async () => {
    for (let i = 0; i < 10; i += 1) {
      spin(20)
      await Promise.resolve()
    }
  })
  expect(inMicrotasks.cost.holdMs).toBeGreaterThanOrEqual(200)
})

async function heldBy(times: number[]): Promise<[number, number]> {
  const work = async (): Promise<void> => scripted.hold(times.shift() ?? 0)
  const { cost } = await measureLeastHold(scripted, 50, work)
  return [cost.holdMs, times.length]
}

test('the least of three holds counts, and the first one within the limit is enough', async () => {
  expect(await heldBy([10, 1])).toEqual([10, 1])
  expect(await heldBy([90, 20, 1])).toEqual([20, 1])
  expect(await heldBy([90, 80, 85, 1])).toEqual([80, 1])
})

async function boundedBy(times: number[]): Promise<[unknown, number]> {
  const runs: (() => Promise<void>)[] = []
  let created = 0
  const runner: Runner = {
    it: (_name, registered) => void runs.push(registered),
    fails: (_name, registered) => void runs.push(registered),
  }
  defineBounds(runner, {
    capabilities: { fs: true, shell: false, code: false, snapshot: false, branch: false },
    only: ['bounds/mkdir/a-deep-path'],
    create: async () => {
      created += 1
      return { ...referenceTarget(times.shift() ?? 0), dispose: async () => undefined }
    },
  })
  const [end] = await Promise.allSettled(runs.map((start) => start()))
  return [end?.status === 'rejected' ? end.reason : undefined, created]
}

test('a call is bounded that stays within its bounds in one of three fresh workspaces', async () => {
  expect(await boundedBy([HELD_MS, HELD_MS, 0])).toEqual([undefined, 3])
  expect(await boundedBy([0, HELD_MS])).toEqual([undefined, 1])
  const [error, created] = await boundedBy([HELD_MS, HELD_MS, HELD_MS, 0])
  expect(error).toMatchObject(failsFor('the event loop held'))
  expect(created).toBe(3)
})

test('growth is what a call has allocated at its peak', async () => {
  const PIECE = 1 << 24
  const grow = async (pieces: number): Promise<number> => {
    const kept: Uint8Array[] = []
    const { cost } = await measureWork(host, async () => {
      for (let at = 0; at < pieces; at += 1) {
        kept.push(new Uint8Array(PIECE).fill(1))
        await nextTurn()
      }
      return kept.length
    })
    return cost.peakBytes
  }
  expect(await grow(1)).toBeLessThan(MAX_PEAK_BYTES)
  expect(await grow(15)).toBeGreaterThan(MAX_PEAK_BYTES)
})
