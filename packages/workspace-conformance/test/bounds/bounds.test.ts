// The harness can fail: each measurement accepts a tool that behaves, and catches one that holds the
// event loop, one that allocates, and one that ignores an abort. What a call costs is scripted there;
// the measurement of Node is tested by itself, with real work.
import { type Tool, WorkspaceFailedError } from '@helix-agents/core'
import type { Workspace } from '@helix-agents/core/provider'
import { ConformanceError } from '@helix-agents/workspace-conformance'
import {
  type BoundBehaviour,
  boundBehaviours,
  BoundSubject,
  type BoundTarget,
  createNodeWorkHost,
  MAX_PEAK_BYTES,
  measureWork,
  type WorkHost,
} from '@helix-agents/workspace-conformance/bounds'
import { describe, expect, test } from 'vitest'
import { createReference } from '../reference/file-system.ts'
import { createInertModules, STORED_OUTPUT } from '../reference/inert-modules.ts'

/** So little that the reference, which is not made to be fast, stays within all bounds. */
const SCALE = { textBytes: 2_000, entries: 10, edits: 5, depth: 10, sparseBytes: 1_000 }

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
