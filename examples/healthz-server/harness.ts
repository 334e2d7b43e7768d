// The server without a socket and without a process, for the tests.
import {
  type Agent,
  defineAgent,
  defineTool,
  type LLMAdapter,
  type Message,
  MockLLMAdapter,
  type StepResult,
  type Tool,
} from '@helix-agents/core'
import { JSAgentExecutor, type JSAgentExecutorOptions } from '@helix-agents/runtime-js'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import type { Hono } from 'hono'
import { type AppParts, createApp } from './app.ts'

export const JSON_TYPE = { 'content-type': 'application/json' }

/** The answer of the model, from the conversation. */
export type Brain = (messages: readonly Message[]) => StepResult

type HarnessParts =
  | 'token'
  | 'maxBodyBytes'
  | 'bodyTimeoutMs'
  | 'maxUnreadBodies'
  | 'maxStreams'
  | 'maxStreamsPerCaller'
  | 'callerOf'
  | 'clock'
  | 'metrics'
  | 'logger'

export interface HarnessOptions {
  readonly brain?: Brain
  readonly tools?: readonly Tool[]
  /** Keeps snapshots of the files. Default: none. */
  readonly history?: 'step'
  readonly streamManager?: InMemoryStreamManager
  readonly executor?: JSAgentExecutorOptions
  readonly app?: Partial<Pick<AppParts, HarnessParts>>
}

export interface Harness {
  readonly app: Hono
  readonly parts: AppParts
  readonly closing: AbortController
  readonly stateStore: InMemoryStateStore
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>
  readonly post: (path: string, body?: unknown) => Promise<Response>
  /** Waits for the run of a session to end. */
  readonly ended: (sessionId: string) => Promise<string>
}

export const say = (content: string): StepResult => ({ type: 'text', content, shouldStop: true })

export const use = (name: string, input: object = {}, id = name): StepResult => ({
  type: 'tool_calls',
  toolCalls: [{ id, name, arguments: input }],
})

function testedAgent({ tools = [], history }: HarnessOptions): Agent {
  return defineAgent({
    name: 'tested',
    llmConfig: { model: 'scripted' },
    tools: [...tools],
    workspaces: {
      box: {
        provider: { kind: 'in-memory' },
        capabilities: { fs: true },
        ...(history !== undefined && { history }),
      },
    },
  })
}

export function createHarness(options: HarnessOptions = {}): Harness {
  const { brain = () => say('done') } = options
  const agent = testedAgent(options)
  const model: LLMAdapter = {
    generateStep: (input) => new MockLLMAdapter([brain(input.messages)]).generateStep(input),
  }
  const stateStore = new InMemoryStateStore()
  const streamManager = options.streamManager ?? new InMemoryStreamManager()
  const executor = new JSAgentExecutor(stateStore, streamManager, model, {
    workspaceProviders: [new InMemoryWorkspaceProvider()],
    ...options.executor,
  })
  const closing = new AbortController()
  const parts: AppParts = {
    agent,
    executor,
    stateStore,
    closing: closing.signal,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    metrics: { contentType: 'text/plain; version=0.0.4', text: () => 'helix_up 1\n' },
    ...options.app,
  }
  const app = createApp(parts)
  return {
    app,
    parts,
    closing,
    stateStore,
    get: async (path, headers = {}) => app.request(path, { headers }),
    post: async (path, body) =>
      app.request(path, {
        method: 'POST',
        ...(body !== undefined && { body: toText(body), headers: JSON_TYPE }),
      }),
    ended: async (sessionId) => {
      const handle = await executor.getHandle(agent, sessionId)
      return (await handle?.result())?.status ?? 'unknown'
    },
  }
}

function toText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

export interface Answer<Body> {
  readonly status: number
  readonly body: Body
}

/** @typeParam Body What the test reads of the body; it is not checked. */
export async function json<Body = unknown>(
  response: Response | Promise<Response>,
): Promise<Answer<Body>> {
  const { status } = await response
  const body: Body = JSON.parse(await (await response).text())
  return { status, body }
}

/** A tool that runs until it is released, and reports when it has begun. */
export function createGate() {
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<string>()
  const tool = defineTool({
    name: 'wait',
    description: 'Waits.',
    inputSchema: { type: 'object' },
    annotations: { readOnly: true },
    execute: (_, { abortSignal }) => {
      begun.resolve()
      abortSignal.addEventListener('abort', () => released.resolve('stopped'))
      return released.promise
    },
  })
  return { tool, begun: begun.promise, open: () => released.resolve('done') }
}

/** Calls that tool, and ends after it. */
export const waitThenSay = (messages: readonly { role: string }[]) =>
  messages.at(-1)?.role === 'tool' ? say('after the wait') : use('wait', {}, `w-${messages.length}`)
