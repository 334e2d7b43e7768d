// What the scripted session says and does, as data: the child plays it, the judge compares with it.
// Everything follows from the session id and the number of the step, so that any process can go on.
import type { AssistantMessage, ToolCall } from '@helix-agents/core'

/**
 * What a call does that can be counted from outside.
 * - `once`: a journaled effect; its id appears in the effect log or in a file of the workspace.
 * - `started`: a command in the background; it may be ended before it had its effect.
 * - `state`: its id appears in the custom state.
 * - `hidden`: changes something that nobody can look at later.
 * - `harmless`: reads, or may be repeated: it always succeeds in the end.
 */
export type Effect = 'once' | 'started' | 'state' | 'hidden' | 'harmless'

export interface PlannedCall extends ToolCall {
  readonly effect: Effect
  /** Part of every successful result. */
  readonly says?: string
}

export interface PlannedStep {
  readonly content: string
  readonly calls: readonly PlannedCall[]
}

export interface PlannedSession {
  readonly sessionId: string
  /** What the user says. */
  readonly message: string
  readonly steps: readonly PlannedStep[]
}

export const AGENT = 'crash'
export const SUB_AGENT = 'helper'
/** The file that the edits change. */
export const EDITED_FILE = '/edited.md'
/** Names the file outside of all workspaces to which commands append. */
export const EFFECT_LOG_VARIABLE = 'HELIX_EFFECT_LOG'

/** The main session of so many steps and the sessions of its sub-agents. */
export function planSessions(sessionId: string, steps: number): readonly PlannedSession[] {
  const main = planMain(sessionId, steps)
  const tasks = main.steps.flatMap(({ calls }, step) =>
    calls.flatMap((call, index) =>
      call.name === `subagent__${SUB_AGENT}`
        ? [planHelper(`${sessionId}/s${step + 1}-${index}`, taskOf(call))]
        : [],
    ),
  )
  return [main, ...tasks]
}

/** The step that a conversation has come to. */
export function nextStep(
  agentType: string,
  conversation: { readonly message: string; readonly stepsDone: number; readonly steps: number },
): PlannedStep {
  const { message, stepsDone, steps } = conversation
  const plan =
    agentType === AGENT
      ? stepOf(message, stepsDone + 1, steps)
      : helperSteps(JSON.parse(message).task)[stepsDone]
  if (plan === undefined) throw new Error(`${agentType} has no step ${stepsDone + 1}`)
  return plan
}

/** A plan as the model says it. */
export function toAssistantMessage({ content, calls }: PlannedStep): AssistantMessage {
  if (calls.length === 0) return { role: 'assistant', content }
  const toolCalls = calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given }))
  return { role: 'assistant', content, toolCalls }
}

function planMain(sessionId: string, steps: number): PlannedSession {
  const list = Array.from({ length: steps }, (_, index) => stepOf(sessionId, index + 1, steps))
  return { sessionId, message: sessionId, steps: list }
}

function planHelper(sessionId: string, task: string): PlannedSession {
  return { sessionId, message: JSON.stringify({ task }), steps: helperSteps(task) }
}

function stepOf(sessionId: string, step: number, steps: number): PlannedStep {
  const content = `step ${step} of ${sessionId}`
  if (step === steps) return { content, calls: [] }
  const id = (name: string): string => `${sessionId}:${step}:${name}`
  if (step === 1) {
    const given = { path: EDITED_FILE, content: 'END\n' }
    return { content, calls: [harmless(id('setup'), 'workspace__box__write_file', given)] }
  }
  const kind = KINDS[step % KINDS.length]
  return { content, calls: kind?.(id, step) ?? [] }
}

type StepKind = (id: (name: string) => string, step: number) => readonly PlannedCall[]

const KINDS: readonly StepKind[] = [
  // One journaled effect.
  (id) => [record(id('single'))],
  // Independent effects at the same time.
  (id) => [
    record(id('left')),
    record(id('right'), 'record_slowly'),
    harmless(id('look'), 'look', {}),
    shell(id('beside')),
  ],
  // Effects that keep their order.
  (id, step) => {
    const path = `/ordered-${step}.txt`
    return [
      harmless(id('write'), 'workspace__box__write_file', { path, content: 'start\n' }),
      append(id('second'), path),
      once(id('third'), 'workspace__box__run', { command: `echo ${id('third')} >> .${path}` }),
      append(id('fourth'), path),
    ]
  },
  // Reads only.
  (id) => [
    harmless(id('read'), 'workspace__box__read_file', { path: EDITED_FILE }),
    harmless(id('list'), 'workspace__box__ls', { path: '/' }),
    harmless(id('look'), 'look', {}),
  ],
  // An edit of what the step before has read, in another process perhaps.
  (id) => [
    once(id('edit'), 'workspace__box__edit_file', {
      path: EDITED_FILE,
      oldText: 'END',
      newText: `${id('edit')}\nEND`,
    }),
  ],
  // Custom state, between other effects.
  (id) => [count(id('first')), record(id('between')), count(id('last'))],
  // Two sub-agents with effects of their own.
  (id) => [helper(id('one')), record(id('beside')), helper(id('two'))],
  // More output than fits into a result.
  (id) => [
    once(id('large'), 'workspace__box__run', {
      command: `echo ${id('large')} >> "$${EFFECT_LOG_VARIABLE}"; seq 1 25000`,
    }),
  ],
  // Text.
  () => [],
  // A process that outlives its call, and the process that started it when that is killed.
  (id) => [
    {
      id: id('background'),
      name: 'workspace__box__run',
      arguments: {
        command: `echo ${id('background')} >> "$${EFFECT_LOG_VARIABLE}"; exec sleep 60`,
        opts: { background: true },
      },
      effect: 'started',
    },
  ],
]

function helperSteps(task: string): readonly PlannedStep[] {
  const id = (name: string): string => `${task}:${name}`
  return [
    { content: `begin ${task}`, calls: [record(id('note')), shell(id('own'), 'own')] },
    {
      content: `go on ${task}`,
      calls: [
        {
          id: id('append'),
          name: 'workspace__own__append_file',
          arguments: { path: '/notes.txt', content: 'note\n' },
          effect: 'hidden',
        },
      ],
    },
    { content: `done ${task}`, calls: [] },
  ]
}

function record(id: string, name = 'record'): PlannedCall {
  return { ...once(id, name, { id }), says: id }
}

function count(id: string): PlannedCall {
  return { id, name: 'count', arguments: { id }, effect: 'state', says: id }
}

function shell(id: string, workspace = 'box'): PlannedCall {
  const command = `echo ${id} >> "$${EFFECT_LOG_VARIABLE}"`
  return once(id, `workspace__${workspace}__run`, { command })
}

function append(id: string, path: string): PlannedCall {
  return once(id, 'workspace__box__append_file', { path, content: `${id}\n` })
}

function helper(task: string): PlannedCall {
  const says = `done ${task}`
  return { ...harmless(task, `subagent__${SUB_AGENT}`, { task }), says }
}

function once(id: string, name: string, given: unknown): PlannedCall {
  return { id, name, arguments: given, effect: 'once' }
}

function harmless(id: string, name: string, given: unknown): PlannedCall {
  return { id, name, arguments: given, effect: 'harmless' }
}

function taskOf({ arguments: given }: PlannedCall): string {
  return (given as { readonly task: string }).task
}
