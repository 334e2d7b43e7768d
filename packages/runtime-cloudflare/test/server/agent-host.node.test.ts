// One object: when it can work, and what of its options reaches its executor.
import {
  defineAgent,
  MockLLMAdapter,
  type StepResult,
  WorkspaceFailedError,
} from '@helix-agents/core'
import { createRecordingMetrics } from '@helix-agents/core/testing'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { describe, expect, test } from 'vitest'
import { say } from '../http/node-host.ts'
import { later } from '../node-object.ts'
import { createHost, gated, NOW, plain } from './host-fixture.ts'

const box = { provider: { kind: 'in-memory' }, capabilities: { fs: true } } as const
const boxed = defineAgent({
  name: 'a',
  llmConfig: { model: {} },
  workspaces: { box, other: box },
})

/** Counts how many workspaces are being opened, and may fail. */
class CountingProvider extends InMemoryWorkspaceProvider {
  opens = 0
  most = 0
  #now = 0
  readonly #fails: boolean

  constructor(fails = false) {
    super()
    this.#fails = fails
  }

  override async open(...given: Parameters<InMemoryWorkspaceProvider['open']>) {
    this.opens += 1
    this.#now += 1
    this.most = Math.max(this.most, this.#now)
    await later()
    this.#now -= 1
    if (this.#fails) throw new WorkspaceFailedError('provider-failed', 'no', { transient: true })
    return super.open(...given)
  }
}

const nothing = (): void => {}

/** Notes the names of what is measured. */
function tracerInto(spans: string[]) {
  const span = {
    setAttribute: nothing,
    setAttributes: nothing,
    setStatus: nothing,
    recordException: nothing,
    end: nothing,
  }
  return {
    startActiveSpan: (name: string, _: object, work: (of: object) => unknown) => {
      spans.push(name)
      return work(span)
    },
  }
}

describe('an object', () => {
  test('that is new stores nothing until a run begins', async () => {
    const { host, events, state, values, run } = createHost()
    expect(await host.isEmpty()).toBe(true)
    await host.ready()
    await host.ready()
    expect(events).toEqual(['started'])
    expect([await host.isEmpty(), await host.isUnmade(), values.size]).toEqual([true, true, 0])
    expect([state.alarm, host.erasures]).toEqual([null, 0])
    expect(await run()).toMatchObject({ status: 'completed', output: 'done' })
    expect([await host.isEmpty(), await host.isUnmade()]).toEqual([false, false])
    expect([values.size, state.alarm]).toEqual([0, null])
    expect(events).toEqual(['started', 'started'])
  })

  test('of a class without SQLite says so, each time it is asked, until it has it', async () => {
    const { host, state, events } = createHost()
    state.isSqlite = false
    for (let round = 0; round < 2; round++) {
      await expect(host.ready()).rejects.toMatchObject({ status: 500 })
    }
    expect(events).toEqual([])
    state.isSqlite = true
    await host.ready()
    expect(events).toEqual(['started'])
  })

  test.each([
    [{}, 30_000],
    [{ heartbeatMs: 50 }, 50],
  ])('with %o is woken during a run after %i ms', async (options, heartbeatMs) => {
    const { answer, open } = gated()
    const { host, state, values } = createHost({ options, steps: [answer] })
    await host.ready()
    const handle = await host.executor.execute(plain, 'Go', { sessionId: 's' })
    expect(state.alarm).toBe(NOW + heartbeatMs)
    expect(state.waits).toHaveLength(1)
    expect(values.get('helix:run:s')).toEqual({ sessionId: 's', attempts: 0 })
    open()
    await handle.result()
    await Promise.all(state.waits)
    expect([state.alarm, values.size]).toEqual([null, 0])
  })

  test('has an unmade session as long as an import has left all that is stored', async () => {
    const { host } = createHost()
    await host.ready()
    const session = { agentType: 'a', customState: undefined, now: NOW }
    await host.stateStore.createSession({ ...session, sessionId: 'i', parentSessionId: 's' })
    expect([await host.isEmpty(), await host.isUnmade()]).toEqual([false, true])
    await host.stateStore.createSession({ ...session, sessionId: 'j', parentSessionId: 'i' })
    expect(await host.isUnmade()).toBe(false)
  })

  test('whose session cannot be read has one', async () => {
    const { host, ctx } = createHost()
    await host.ready()
    const session = { agentType: 'a', customState: undefined, now: NOW }
    await host.stateStore.createSession({ ...session, sessionId: 'i', parentSessionId: 's' })
    ctx.storage.sql.exec("UPDATE helix_sessions SET status = 'none'")
    expect(await host.isUnmade()).toBe(false)
  })
})

describe('what the application provides', () => {
  test('is made once, of the bindings, the object and its session', async () => {
    const asked: unknown[] = []
    const { host, env, ctx, run } = createHost({
      options: {
        agents: (...given: unknown[]) => (asked.push(['agents', ...given]), [plain]),
        llmAdapter: (...given: unknown[]) => {
          asked.push(['model', ...given])
          return new MockLLMAdapter([say('done')])
        },
        workspaceProviders: (...given: unknown[]) => {
          asked.push(['providers', ...given])
          return [new InMemoryWorkspaceProvider()]
        },
      },
    })
    expect([host.env, host.ctx, host.sessionId]).toEqual([env, ctx, 's'])
    expect(host.agents).toEqual(new Map([['a', plain]]))
    expect(host.executor).toBe(host.executor)
    await run()
    expect(host.agents).toBe(host.agents)
    expect(asked).toEqual([
      ['agents', env, ctx],
      ['providers', env, ctx, { sessionId: 's' }],
      ['model', env, ctx],
    ])
  })

  test('names each agent once', () => {
    const { host } = createHost({ options: { agents: [plain, boxed] } })
    const message = expect.stringContaining('two of them have one name')
    expect(() => host.agents).toThrow(
      expect.objectContaining({ code: 'definition-invalid', message }),
    )
  })

  test.each([
    [{}, 2],
    [{ workspaceMaxConcurrentOpens: 1 }, 1],
  ])('with %o opens so many workspaces at once, and tells who listens', async (options, most) => {
    const [opened, metrics] = [[] as unknown[], createRecordingMetrics()]
    const [spans, provider] = [[] as string[], new CountingProvider()]
    const { run, logger } = createHost({
      options: {
        agents: [boxed],
        workspaceProviders: () => [provider],
        workspaceOpenStrategy: 'eager',
        lifecycle: { onOpen: (event: object) => void opened.push(event) },
        metrics,
        tracer: tracerInto(spans),
        ...options,
      },
    })
    await run(boxed)
    expect([provider.opens, provider.most]).toEqual([2, most])
    expect(opened).toMatchObject([{ session: { sessionId: 's' } }, { session: { sessionId: 's' } }])
    expect(metrics.count('incOpen')).toBe(2)
    expect(spans).toContain('invoke_agent a')
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('is asked for a workspace when one is used, as often as its limits say', async () => {
    const call: StepResult = {
      type: 'tool_calls',
      toolCalls: [{ id: 'c', name: 'workspace__box__ls', arguments: {} }],
    }
    const provider = new CountingProvider(true)
    const { run, logger } = createHost({
      steps: [call, say('done')],
      options: {
        agents: [boxed],
        workspaceProviders: () => [provider],
        workspaceRegistry: { transientRetryAttempts: 0 },
      },
    })
    expect(await run(boxed)).toMatchObject({ status: 'completed' })
    expect(provider.opens).toBe(1)
    expect(logger.lines).not.toEqual([])
  })
})
