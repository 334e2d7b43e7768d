// An object whose executor notes what it is told, for what stands in front of it.
import { type Agent, defineAgent } from '@helix-agents/core'
import { RecordingLogger } from '@helix-agents/core/testing'
import type { Caller } from '../../src/route/caller.ts'
import { openAccess, type SessionAccess } from '../../src/server/session-access.ts'
import { createSteps } from '../node-object.ts'

export const agent = defineAgent({ name: 'a', llmConfig: { model: {} } })
export const other = defineAgent({ name: 'b', llmConfig: { model: {} } })

export interface World {
  readonly status?: string
  readonly running?: boolean
  readonly options?: object
  readonly caller?: Caller
  readonly owner?: string
  readonly agents?: readonly Agent[]
}

/** An object whose executor notes what it is told. */
export function setup({
  status,
  running = false,
  options = {},
  caller = {},
  owner,
  agents = [agent],
}: World = {}) {
  const state = { status, running, erasures: 0, isErasing: false }
  const events: unknown[] = []
  const logger = new RecordingLogger()
  const sessionOf = () =>
    state.status === undefined
      ? null
      : {
          sessionId: 's',
          agentType: 'a',
          status: state.status,
          ...(owner !== undefined && { userId: owner }),
        }
  const step = createSteps((name) => void events.push(`${name} is too early`))
  const note = async (event: unknown): Promise<void> => {
    await step(String(event))
    events.push(event)
  }
  const handle = {
    sessionId: 's',
    runId: 'r',
    interrupt: () => note('interrupt'),
    abort: () => note('abort'),
    result: () => note('result'),
  }
  const told =
    (name: string) =>
    async (of: Agent, ...given: unknown[]) => {
      await note([name, of.name, ...given])
      return name === 'send' ? { messageId: 'm' } : handle
    }
  const host = {
    sessionId: 's',
    agents: new Map(agents.map((one) => [one.name, one])),
    options,
    logger,
    get erasures() {
      return state.erasures
    },
    watchdog: { isRunning: () => state.running },
    stateStore: {
      loadSession: async () => sessionOf(),
      getCheckpoint: async (_: string, id: string) => (id === 'c' ? { id } : null),
    },
    executor: {
      execute: told('execute'),
      resume: told('resume'),
      send: told('send'),
      respond: told('respond'),
      restoreCheckpoint: told('restore'),
      getHandle: async () => (state.status === undefined ? null : handle),
    },
    assertMayChange: () => void events.push('may change'),
    assertNotErasing: () => {
      if (state.isErasing) throw new Error('it is being deleted')
    },
    forgetCutOffRun: () => note('forget'),
    pauseCutOffRun: () => note('pause'),
  }
  const open = () => openAccess(host as never, { caller })
  return { host: host as never as SessionAccess<object>['host'], state, events, logger, open }
}

export const ends = ['idle', 'running', 'waiting', 'interrupted', 'failed', 'completed', 'aborted']
export const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  )
