import {
  type Agent,
  type AgentConfig,
  defineAgent,
  type Message,
  MockLLMAdapter,
  type MockStep,
  type StepResult,
  systemClock,
  type Tool,
  type ToolContext,
  type ToolResultMessage,
} from '@helix-agents/core'
import type { SequencedChunk, StreamReaderOptions } from '@helix-agents/core/runtime'
import { check, ConformanceError } from '../assert.ts'
import type {
  AgentExecutor,
  ExecutorScenario,
  ExecutorSubject,
  RunEnding,
  RunHandle,
} from './executor-subject.ts'

export const SESSION = 'session'

/** Longer than a scripted run takes, however busy the machine is. */
const PATIENCE_MS = 10_000

export function newAgent(config: Partial<AgentConfig> = {}): Agent {
  return defineAgent({ name: 'agent', llmConfig: { model: 'scripted' }, ...config })
}

/** An agent with one workspace, `box`. */
export function agentWithBox(subject: ExecutorSubject, config: Partial<AgentConfig> = {}): Agent {
  const box = { provider: subject.workspace, capabilities: { fs: true } }
  return newAgent({ ...config, workspaces: { box } })
}

export function say(content: string): StepResult {
  return { type: 'text', content, shouldStop: true }
}

/** A step that calls tools; the ids are `c0`, `c1`, … behind a prefix. */
export function call(
  calls: readonly (readonly [name: string, input?: unknown])[],
  prefix = '',
): StepResult {
  const toolCalls = calls.map(([name, input = {}], index) => ({
    id: `${prefix}c${index}`,
    name,
    arguments: input,
  }))
  return { type: 'tool_calls', toolCalls }
}

export function writeFile(path: string, content: string): StepResult {
  return call([['workspace__box__write_file', { path, content }]], `write-${path}-`)
}

export function readFile(path: string): StepResult {
  return call([['workspace__box__read_file', { path }]], `read-${path}-`)
}

export interface ToolScript {
  readonly name: string
  readonly readOnly?: boolean
  readonly timeoutMs?: number
  readonly finishWith?: true
  readonly parse?: (input: unknown) => unknown
  readonly execute: (context: ToolContext, input: unknown) => Promise<unknown>
}

/** A tool whose result is text. */
export function newTool(script: ToolScript): Tool {
  const { name, readOnly = false, timeoutMs, finishWith, parse, execute } = script
  return {
    name,
    description: name,
    annotations: { readOnly, destructive: !readOnly, idempotent: readOnly },
    parameters: { type: 'object' },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(finishWith !== undefined && { finishWith }),
    parse: (input) => (parse === undefined ? input : parse(input)),
    execute: (input, context) => execute(context, input),
    toModelOutput: String,
  }
}

/** Creates a first process whose model plays the script. */
export function play(
  subject: ExecutorSubject,
  steps: readonly MockStep[],
): Promise<ExecutorScenario> {
  return subject.createExecutor(new MockLLMAdapter(steps))
}

export function start(
  executor: AgentExecutor,
  agent: Agent,
  message = 'go',
  sessionId = SESSION,
): Promise<RunHandle> {
  return within(executor.execute(agent, { message }, { sessionId }))
}

/** Runs an agent to its end. */
export async function runToEnd(
  executor: AgentExecutor,
  agent: Agent,
  message?: string,
): Promise<RunEnding> {
  return endOf(await start(executor, agent, message))
}

export function endOf(handle: RunHandle): Promise<RunEnding> {
  return within(handle.result())
}

/** Everything a run streams. */
export async function chunksOf(
  handle: RunHandle,
  options?: StreamReaderOptions,
): Promise<readonly SequencedChunk[]> {
  const stream = await handle.stream(options)
  check(stream !== null, 'the run to have a stream')
  const chunks: SequencedChunk[] = []
  const collect = async (): Promise<void> => {
    for await (const chunk of stream) chunks.push(chunk)
  }
  await within(collect())
  return chunks
}

export async function messagesOf(
  { store }: ExecutorScenario,
  sessionId = SESSION,
): Promise<readonly Message[]> {
  return (await store.loadMessages(sessionId)).messages
}

/** The tool results of a conversation, in their order. */
export function resultsIn(messages: readonly Message[]): readonly ToolResultMessage[] {
  return messages.filter((message) => message.role === 'tool')
}

/** The text that the model read of the last tool result. */
export function lastResult(messages: readonly Message[]): string {
  return textOf(resultsIn(messages).at(-1))
}

/** What a message says; every other content as JSON. */
export function textOf(message: Message | undefined): string {
  const content = message?.content
  return typeof content === 'string' ? content : JSON.stringify(content ?? null)
}

/** A point that one side reaches and another waits for. */
export interface Gate {
  readonly open: () => void
  readonly passed: Promise<void>
}

export function newGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, passed: promise }
}

/** A tool call that never ends: what a process was at when it died. */
export function never(): Promise<never> {
  return new Promise(() => {})
}

/** Lets everything run that does not wait for something outside. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    systemClock.setTimer(0, resolve)
  })
}

export async function within<T>(promise: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const fail = (): void => reject(new ConformanceError('expected the run to continue or to end'))
  const cancel = systemClock.setTimer(PATIENCE_MS, fail)
  try {
    return await Promise.race([promise, timeout])
  } finally {
    cancel()
  }
}

/** Waits until the results of these calls are stored. */
export async function untilStored(
  { store }: Pick<ExecutorScenario, 'store'>,
  callIds: readonly string[],
): Promise<void> {
  const areStored = async (): Promise<boolean> => {
    const journal = await store.loadJournal(SESSION)
    const ended = journal.filter(({ result }) => result !== undefined)
    const ids = new Set(ended.map(({ toolCallId }) => toolCallId))
    return callIds.every((id) => ids.has(id))
  }
  const over = new AbortController()
  const stored = async (): Promise<void> => {
    while (!over.signal.aborted && !(await areStored())) await turn()
  }
  try {
    await within(stored())
  } finally {
    over.abort()
  }
}
