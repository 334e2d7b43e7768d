// The judge is the whole worth of the crash test: here it is shown each kind of damage.
import type { Message, ToolResultMessage } from '@helix-agents/core'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import type { Evidence, FindingCode, StoredSession } from './evidence.ts'
import { judge } from './judge.ts'
import { type PlannedSession, planSessions, toAssistantMessage } from './session-plan.ts'

const STEPS = 12
const SINGLE = 's:10:single'
const COUNTED = 's:5:first'
const STARTED = 's:9:background'

describe('a session without damage', () => {
  test('gives no finding', () => {
    const { findings, told } = judge(intact())
    expect(findings).toEqual([])
    expect(told).toEqual({ done: 20, unknown: 0, 'not-started': 0, failed: 0 })
  })

  test('may have an unknown call whose effect happened, or not', () => {
    const unknown = withResult(intact(), SINGLE, failure('outcome-unknown'))
    expect(codesOf(unknown)).toEqual([])
    expect(codesOf(without(unknown, SINGLE))).toEqual([])
    expect(judge(unknown).told.unknown).toBe(1)
  })

  test('may have a call that was not started', () => {
    const told = withResult(without(intact(), SINGLE), SINGLE, failure('not-started'))
    expect(codesOf(told)).toEqual([])
  })

  test('may have a background process that ended before its effect', () => {
    expect(codesOf(without(intact(), STARTED))).toEqual([])
  })

  test('may have started anew before its client saw anything', () => {
    const [first] = intact().chunks
    const chunks = [resync(first?.sequence ?? 0), ...intact().chunks]
    expect(codesOf({ ...intact(), chunks })).toEqual([])
  })
})

describe('effects', () => {
  test('one that happened twice', () => {
    const effects = [...intact().effects, SINGLE]
    expect(codesOf({ ...intact(), effects })).toEqual(['effect-doubled'])
    const unknown = withResult({ ...intact(), effects }, SINGLE, failure('outcome-unknown'))
    expect(codesOf(unknown)).toEqual(['effect-doubled'])
  })

  test('one that is reported as done and did not happen', () => {
    expect(codesOf(without(intact(), SINGLE))).toEqual(['effect-missing'])
  })

  test('one that happened and is reported as not started', () => {
    const told = withResult(intact(), SINGLE, failure('not-started'))
    expect(codesOf(told)).toEqual(['effect-denied'])
  })

  test('one of the custom state that happened twice, or not at all', () => {
    const counted = [COUNTED, COUNTED, 's:5:last']
    const twice = withMain(intact(), (main) => ({ ...main, customState: { counted } }))
    expect(codesOf(twice)).toEqual(['effect-doubled'])
    const never = withMain(intact(), (main) => ({
      ...main,
      customState: { counted: ['s:5:last'] },
    }))
    expect(codesOf(never)).toEqual(['effect-missing'])
  })

  test('one that nobody asked for', () => {
    const effects = [...intact().effects, 'stranger']
    expect(codesOf({ ...intact(), effects })).toEqual(['effect-unplanned'])
  })

  test('a call that failed for another reason', () => {
    const told = withResult(without(intact(), SINGLE), SINGLE, failure('internal'))
    expect(codesOf(told)).toEqual(['result-wrong'])
  })

  test('a harmless call that was given up', () => {
    const told = withResult(intact(), 's:1:setup', failure('outcome-unknown'))
    expect(codesOf(told)).toEqual(['result-wrong'])
  })
})

describe('messages', () => {
  test.each<[string, (messages: readonly Message[]) => readonly Message[], FindingCode]>([
    ['one that is lost', (all) => all.filter(({ role }) => role !== 'user'), 'message-lost'],
    ['one that is doubled', (all) => [...all.slice(0, 1), ...all], 'message-doubled'],
    ['a result that is lost', (all) => all.toSpliced(2, 1), 'result-missing'],
    ['a result that is doubled', (all) => all.toSpliced(2, 0, at(all, 2)), 'result-doubled'],
    [
      'an order that is wrong',
      (all) => all.toSpliced(1, 2, at(all, 2), at(all, 1)),
      'message-wrong',
    ],
    ['one of nowhere', (all) => [...all, { role: 'user', content: 'x' }], 'message-wrong'],
  ])('%s', (_, damage, code) => {
    const damaged = withMain(intact(), (main) => ({ ...main, messages: damage(main.messages) }))
    expect(codesOf(damaged)).toEqual([code])
  })

  test('the result of another call', () => {
    const result = { content: 'recorded something else' }
    expect(codesOf(withResult(intact(), SINGLE, result))).toEqual(['result-wrong'])
  })

  test('a session that is not there, not done, or nobody’s', () => {
    const { sessions } = intact()
    expect(codesOf({ ...intact(), sessions: sessions.slice(0, -1) })).toContain('session-missing')
    const stuck = withMain(intact(), (main) => ({ ...main, status: 'running' }))
    expect(codesOf(stuck)).toEqual(['session-unfinished'])
    const stranger = { ...at(sessions, 0), sessionId: 'stranger' }
    expect(codesOf({ ...intact(), sessions: [...sessions, stranger] })).toContain(
      'session-unplanned',
    )
  })
})

describe('the stream', () => {
  test('a gap, and a number that comes again', () => {
    const { chunks } = intact()
    const shift = (from: number, by: number): readonly SequencedChunk[] =>
      chunks.map((chunk, index) =>
        index < from ? chunk : { ...chunk, sequence: chunk.sequence + by },
      )
    expect(codesOf({ ...intact(), chunks: shift(7, 1) })).toEqual(['stream-gap'])
    expect(codesOf({ ...intact(), chunks: shift(7, -1) })).toEqual(['stream-gap'])
  })

  test('a reader that has to start anew', () => {
    const chunks = intact().chunks.toSpliced(5, 0, resync(5))
    expect(codesOf({ ...intact(), chunks })).toContain('stream-resync')
  })

  test('a step or a result that it never tells, or the end', () => {
    const drop = (type: string): Evidence => {
      const { chunks } = intact()
      const dropped = chunks.findLastIndex((chunk) => chunk.type === type)
      return { ...intact(), chunks: renumber(chunks.toSpliced(dropped, 1)) }
    }
    expect(codesOf(drop('text_delta'))).toEqual(['stream-incomplete'])
    expect(codesOf(drop('tool_end'))).toEqual(['stream-incomplete'])
    expect(codesOf(drop('output'))).toEqual(['output-untold'])
    expect(codesOf({ ...intact(), hasStreamEnded: false })).toEqual(['stream-unended'])
  })

  test('a result that it tells differently', () => {
    const told = withResult(intact(), SINGLE, failure('outcome-unknown'))
    expect(codesOf({ ...told, chunks: intact().chunks })).toEqual(['stream-incomplete'])
  })
})

test('what is left on the machine', () => {
  expect(codesOf({ ...intact(), directories: ['helix-ws-1'] })).toEqual(['directory-left'])
  expect(codesOf({ ...intact(), processes: ['123'] })).toEqual(['process-left'])
  expect(codesOf({ ...intact(), damage: ['row 1 missing'] })).toEqual(['database-damaged'])
})

function codesOf(evidence: Evidence): readonly FindingCode[] {
  return judge(evidence).findings.map(({ code }) => code)
}

/** As if no process had ever died. */
function intact(): Evidence {
  const plans = planSessions('s', STEPS)
  const calls = plans.flatMap(({ steps }) => steps.flatMap((step) => step.calls))
  const visible = calls.filter(({ effect }) => effect === 'once' || effect === 'started')
  const sessions = plans.map(playSession)
  return {
    plans,
    sessions,
    effects: visible.map(({ id }) => id),
    chunks: chunksOf(sessions),
    hasStreamEnded: true,
    directories: [],
    processes: [],
    damage: [],
  }
}

function playSession({ sessionId, message, steps }: PlannedSession): StoredSession {
  const messages = steps.flatMap((step): Message[] => [
    toAssistantMessage(step),
    ...step.calls.map(({ id, name, says = 'fine' }): ToolResultMessage => ({
      role: 'tool',
      toolCallId: id,
      toolName: name,
      content: says,
    })),
  ])
  return {
    sessionId,
    status: 'completed',
    stepCount: steps.length,
    messages: [{ role: 'user', content: message }, ...messages],
    customState: sessionId === 's' ? { counted: [COUNTED, 's:5:last'] } : {},
  }
}

function chunksOf(sessions: readonly StoredSession[]): readonly SequencedChunk[] {
  const base = { agentId: 'run', agentType: 'crash', timestamp: 0, sequence: 0 }
  const told = sessions.flatMap(({ messages }) =>
    messages.flatMap((message): SequencedChunk[] => {
      if (message.role === 'user') return []
      if (message.role === 'assistant') {
        return [{ ...base, type: 'text_delta', delta: message.content }]
      }
      const { toolCallId, toolName, isError } = message
      return [{ ...base, type: 'tool_end', toolCallId, toolName, success: isError !== true }]
    }),
  )
  return renumber([...told, { ...base, type: 'output', output: 'done' }])
}

function renumber(chunks: readonly SequencedChunk[]): readonly SequencedChunk[] {
  return chunks.map((chunk, index) => ({ ...chunk, sequence: index + 1 }))
}

function resync(sequence: number): SequencedChunk {
  const base = { agentId: 'run', agentType: 'crash', timestamp: 0, sequence }
  return { ...base, type: 'stream_resync', reason: 'new-run', nextSequence: sequence + 1 }
}

function failure(code: string): Partial<ToolResultMessage> {
  return { content: `Error [${code}]: told so`, isError: true }
}

function withMain(evidence: Evidence, change: (main: StoredSession) => StoredSession): Evidence {
  const [main, ...others] = evidence.sessions
  return main === undefined ? evidence : { ...evidence, sessions: [change(main), ...others] }
}

/** Another result of a call, told on the stream as well. */
function withResult(evidence: Evidence, id: string, result: Partial<ToolResultMessage>): Evidence {
  const replace = (message: Message): Message =>
    message.role === 'tool' && message.toolCallId === id ? { ...message, ...result } : message
  const sessions = evidence.sessions.map((session) => ({
    ...session,
    messages: session.messages.map(replace),
  }))
  return { ...evidence, sessions, chunks: chunksOf(sessions) }
}

function without(evidence: Evidence, id: string): Evidence {
  return { ...evidence, effects: evidence.effects.filter((each) => each !== id) }
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index]
  if (item === undefined) throw new Error(`no item ${index}`)
  return item
}
