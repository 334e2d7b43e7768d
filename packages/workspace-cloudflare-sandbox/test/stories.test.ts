// What an agent lives through, told by the messages that its model reads.
import { inspect } from 'node:util'
import {
  type CapabilitiesInput,
  defineAgent,
  MockLLMAdapter,
  type MockStep,
  type StepResult,
} from '@helix-agents/core'
import { noopMetrics, type Span, type Tracer } from '@helix-agents/core/runtime'
import { createRecordingMetrics, ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import {
  type CloudflareSandboxConfigInput,
  CloudflareSandboxWorkspaceProvider,
  DriverError,
} from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, expect, test } from 'vitest'
import { unavailable } from './double/memory-driver.ts'
import { SandboxWorld } from './double/memory-world.ts'
import { kind } from './double/open-on-double.ts'

const sessionId = 'session-1'
const FRESH = 'was started afresh'
const RESTORED = 'was restored'

/** An agent with one sandbox, and the world around it. */
class Story {
  readonly world = new SandboxWorld()
  readonly store = new InMemoryStateStore()
  readonly streams = new InMemoryStreamManager()
  readonly clock = new ManualClock(1_800_000_000_000)
  readonly logger = new RecordingLogger()
  readonly metrics = createRecordingMetrics()
  /** Names and attributes of all spans, and what became of them. */
  readonly spans: unknown[] = []
  readonly #config: Partial<CloudflareSandboxConfigInput>
  readonly #capabilities: CapabilitiesInput
  readonly #onLost: 'reopen' | 'fail'

  constructor(
    config: Partial<CloudflareSandboxConfigInput> = {},
    capabilities: CapabilitiesInput = { fs: true, shell: true },
    onLost: 'reopen' | 'fail' = 'reopen',
  ) {
    this.#config = config
    this.#capabilities = capabilities
    this.#onLost = onLost
    this.world.now = () => this.clock.now()
  }

  /** A run of the session in a process of its own. */
  async run(...steps: readonly MockStep[]): Promise<string> {
    const agent = defineAgent({
      name: 'tester',
      llmConfig: { model: {} },
      workspaces: {
        box: {
          provider: { kind, ...this.#config },
          capabilities: this.#capabilities,
          onLost: this.#onLost,
        },
      },
    })
    const executor = new JSAgentExecutor(
      this.store,
      this.streams,
      new MockLLMAdapter([...steps, { type: 'text', content: 'Done.', shouldStop: true }]),
      {
        clock: this.clock,
        logger: this.logger,
        metrics: this.metrics,
        tracer: this.#tracer(),
        workspaceProviders: [
          new CloudflareSandboxWorkspaceProvider({
            driver: this.world.createDriver,
            localBuckets: true,
          }),
        ],
      },
    )
    const options = { sessionId, keepWorkspaces: false }
    const handle = await executor.execute(agent, { message: 'go' }, options)
    const ending = await handle.result()
    return ending.status
  }

  #tracer(): Tracer {
    const note = (...given: readonly unknown[]): void => void this.spans.push(given)
    const span: Span = {
      setAttribute: note,
      setAttributes: note,
      setStatus: note,
      recordException: note,
      end: note,
    }
    return {
      startActiveSpan: (name, options, work) => {
        note(name, options)
        return work(span)
      },
    }
  }

  /** All that leaves the process for those who operate it. */
  telemetry(): string {
    const names = Object.keys(noopMetrics) as (keyof typeof noopMetrics)[]
    const counted = names.map((name) => [name, this.metrics.calls(name)])
    return inspect([this.logger.lines, counted, this.spans], { depth: 20, showHidden: true })
  }

  /** What the model has read, one text a tool result. */
  async read(): Promise<string[]> {
    const { messages } = await this.store.loadMessages(sessionId, { limit: 100 })
    return messages.flatMap((message) =>
      message.role === 'tool' ? [JSON.stringify(message.content)] : [],
    )
  }
}

let count = 0
function call(name: string, args: object = {}): StepResult {
  count += 1
  return {
    type: 'tool_calls',
    toolCalls: [{ id: `t${count}`, name: `workspace__box__${name}`, arguments: args }],
  }
}

/** Something happens in the world, then a call. */
function after(event: () => void, step: StepResult): MockStep {
  return () => {
    event()
    return step
  }
}

const write = (path = '/a'): StepResult => call('write_file', { path, content: 'x' })
const listed = (): StepResult => call('ls', { path: '/' })

describe('a container that sleeps in the middle of a session', () => {
  test('is told once, with the first result that does not know the old files', async () => {
    const story = new Story()
    const sleep = (): void => story.world.sleep()
    expect(await story.run(write(), after(sleep, listed()), listed())).toBe('completed')
    const [first, second, third] = await story.read()
    expect(first).not.toContain(FRESH)
    expect(second).toContain(FRESH)
    expect(second).toContain('last seen at 2027-')
    expect(third).not.toContain(FRESH)
  })

  test('a command is not run where its files are not, and not twice', async () => {
    const story = new Story()
    const sleep = (): void => story.world.sleep()
    await story.run(write(), after(sleep, call('run', { command: 'make' })))
    const [, result] = await story.read()
    expect(result).toContain(FRESH)
    expect(result).toContain('make')
    expect(story.world.calls.filter((name) => name === 'exec')).toHaveLength(2)
  })

  test('the last snapshot comes back where that is declared, and is told once', async () => {
    const story = new Story(
      { backupR2Binding: 'BACKUP_BUCKET', autoRestore: true },
      { fs: true, snapshot: true },
    )
    const sleep = (): void => story.world.sleep()
    await story.run(write(), call('snapshot'), write('/later'), after(sleep, listed()), listed())
    const [, , , fourth, fifth] = await story.read()
    expect(fourth).toContain(RESTORED)
    expect(fourth).not.toContain('later')
    expect(fifth).not.toContain(RESTORED)
  })

  test('with onLost it is the end of the workspace, and the model is told', async () => {
    const story = new Story({}, { fs: true }, 'fail')
    const sleep = (): void => story.world.sleep()
    await story.run(write(), after(sleep, listed()), listed())
    const [, second, third] = await story.read()
    expect(second).toContain('lost')
    expect(third).toContain('lost')
    expect(story.world.starts).toBe(2)
  })
})

/** One call of the driver fails, once. */
function once(world: SandboxWorld, name: string, error: DriverError): void {
  let isDone = false
  world.onCall = (made) => {
    if (made.name !== name || isDone) return
    isDone = true
    throw error
  }
}

describe('an operation that was interrupted', () => {
  test('before it began is repeated, the model does not notice', async () => {
    const story = new Story()
    once(story.world, 'exec', new DriverError('interrupted', 'x', { admitted: 'no' }))
    await story.run(call('run', { command: 'make' }))
    const [result] = await story.read()
    expect(result).toContain('exit code 0')
  })

  test('and may have run is not repeated, and the model is told', async () => {
    const story = new Story()
    once(story.world, 'exec', new DriverError('interrupted', 'x', { admitted: 'unknown' }))
    await story.run(call('run', { command: 'make' }))
    const [result] = await story.read()
    expect(result).toContain('outcome-unknown')
    expect(story.world.calls.filter((name) => name === 'exec')).toHaveLength(1)
  })

  test('and changes nothing is repeated whatever became of it', async () => {
    const story = new Story()
    once(story.world, 'list', new DriverError('interrupted', 'x', { admitted: 'unknown' }))
    await story.run(write(), listed())
    const [, result] = await story.read()
    expect(result).not.toContain('Error')
  })
})

test('a platform without room is asked again after the time it names', async () => {
  const story = new Story()
  let refusals = 2
  story.world.onCall = ({ name }) => {
    if (name !== 'ensure' || refusals === 0) return
    refusals -= 1
    throw unavailable({ reason: 'capacity', retryAfterMs: 4000 })
  }
  const startedAt = story.clock.now()
  const run = story.run(write())
  const progress: { status?: string } = {}
  void run.then((ended) => (progress.status = ended))
  while (progress.status === undefined) {
    await new Promise((resolve) => setImmediate(resolve))
    await story.clock.advance(500)
  }
  expect(progress.status).toBe('completed')
  expect(story.clock.now() - startedAt).toBeGreaterThanOrEqual(8000)
  expect((await story.read())[0]).not.toContain('Error')
})

test('a restore goes on with the fork, and leaves the old sandbox as it was', async () => {
  const story = new Story({ backupR2Binding: 'BACKUP_BUCKET' }, { fs: true, snapshot: true })
  let ref: unknown
  const restore: MockStep = async () => {
    const texts = await story.read()
    ref = /\{\\"providerId.*\}/.exec(texts.join('\n'))?.[0]?.replaceAll('\\"', '"')
    return call('restore', { ref: String(ref) })
  }
  await story.run(write(), call('snapshot'), write('/later'), restore, listed())
  const texts = await story.read()
  expect(texts.at(-2)).toContain('restored')
  expect(texts.at(-1)).not.toContain('later')
  expect(story.world.containers.size).toBe(2)
})

test('snapshots without a bucket fail by the name of the likely mistake', async () => {
  const story = new Story({}, { snapshot: true })
  await story.run(call('snapshot'))
  const [result] = await story.read()
  expect(result).toContain('capability-missing')
  expect(result).toContain('backupR2Binding')
})

test('an end that the platform does not confirm stays owed', async () => {
  const story = new Story({ destroyOnClose: true })
  story.world.onCall = ({ name }) => {
    if (name !== 'destroy') return
    throw new DriverError('destroy-unconfirmed', 'x', { admitted: 'yes' })
  }
  expect(await story.run(write())).toBe('completed')
  const state = await story.store.loadSession(sessionId)
  expect(state).toMatchObject({ owed: ['box'] })
  expect(Object.keys(state!.workspaceRefs)).toEqual(['box'])
})

test('the next run of a session finds its files, or reads that they are gone', async () => {
  const story = new Story()
  await story.run(write())
  await story.run(listed())
  expect((await story.read()).at(-1)).toContain('a')
  expect((await story.read()).at(-1)).not.toContain(FRESH)
  story.world.sleep()
  await story.run(listed())
  expect((await story.read()).at(-1)).toContain(FRESH)
})

test('nothing that the model reads names the sandbox', async () => {
  const story = new Story(
    { backupR2Binding: 'BACKUP_BUCKET', env: { TOKEN: 'sk-planted' } },
    { fs: true, snapshot: true, shell: { background: true } },
  )
  story.world.onCall = ({ sandboxId, name }) => {
    if (name === 'remove') throw new DriverError('failed', `in ${sandboxId}`, { admitted: 'yes' })
    if (name === 'stat') throw new DriverError('interrupted', 'x', { admitted: 'unknown' })
  }
  await story.run(
    write(),
    call('read_file', { path: '/a' }),
    call('rm', { path: '/a' }),
    call('snapshot'),
    call('stat', { path: '/missing' }),
    call('process_list'),
  )
  const texts = (await story.read()).join('\n')
  for (const id of story.world.touched) expect(texts).not.toContain(id)
  expect(texts).not.toContain('sk-planted')
  expect(story.spans.length).toBeGreaterThan(6)
  expect(story.telemetry()).not.toContain('sk-planted')
})
