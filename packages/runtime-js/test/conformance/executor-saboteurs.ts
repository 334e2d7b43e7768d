import { type StepResult, type Tool, type ToolCall, ToolFailedError } from '@helix-agents/core'
import { subAgentOf } from '@helix-agents/core/runtime'
import type { Sabotage } from './executor-scenario.ts'
import {
  override,
  withAgent,
  withChunks,
  withClock,
  withContext,
  withExecutor,
  withHandle,
  withModel,
  withStore,
  withStreams,
  withTools,
  withWorkspace,
} from './sabotage.ts'

/** When every claim has run out. */
const LATER = Number.MAX_SAFE_INTEGER

const noTimers = withClock({ setTimer: () => () => {} })

/** Behaviour id → what an executor gets wrong. Each must be caught by its behaviour. */
export const executorSaboteurs: Readonly<Record<string, Sabotage>> = {
  'executor/run/completes-with-the-last-text': withHandle((good) => ({
    result: async () => ({ ...(await good.result()), output: '' }),
  })),
  'executor/run/stores-the-conversation': withStore((good) => ({
    commitStep: (commit) =>
      good.commitStep({
        ...commit,
        messages: commit.messages.filter((message) => message.role !== 'tool'),
      }),
  })),
  'executor/run/model-reads-the-conversation': withModel(
    (good) => (input) => good.generateStep({ ...input, messages: input.messages.slice(-1) }),
  ),
  'executor/run/streams-in-order': withChunks((chunk) => chunk.type !== 'tool_start'),
  'executor/run/ends-at-its-step-limit': withAgent((agent) => ({ ...agent, maxSteps: 5 })),
  'executor/run/fails-with-its-model': withModel(
    (good) => (input) =>
      good.generateStep(input).catch(() => ({ type: 'text', content: '', shouldStop: true })),
  ),
  'executor/run/abort-reaches-the-model': withModel(
    (good) => (input) => good.generateStep({ ...input, abortSignal: new AbortController().signal }),
  ),
  'executor/run/abort-reaches-the-tools': withContext((context) =>
    override(context, { abortSignal: new AbortController().signal }),
  ),
  'executor/run/abort-ends-a-tool-that-does-not-listen': noTimers,
  'executor/run/ends-at-its-time-limit': noTimers,
  'executor/session/one-run-at-a-time': withStore((good) => ({
    beginRun: (start) => good.beginRun({ ...start, leaseMs: 0 }),
  })),
  'executor/session/takes-a-further-message': withExecutor((good, { store }) => ({
    execute: async (agent, input, options) => {
      await store.deleteSession(options.sessionId)
      return good.execute(agent, input, options)
    },
  })),
  'executor/session/interrupt-and-resume-lose-nothing': withHandle((good) => ({
    interrupt: () => good.abort(),
  })),
  'executor/session/unknown-cannot-be-resumed': withExecutor(() => ({
    canResume: async () => ({ canResume: true }),
  })),
  'executor/tools/read-only-ones-run-together': withTools((tool) => ({
    ...tool,
    orderKey: 'one',
    annotations: { ...tool.annotations, readOnly: false },
  })),
  'executor/tools/mutations-keep-their-order': withTools((tool) => ({
    ...tool,
    annotations: { ...tool.annotations, readOnly: true },
  })),
  'executor/tools/results-are-in-the-order-of-the-calls': withStore((good) => ({
    commitStep: (commit) => good.commitStep({ ...commit, messages: commit.messages.toReversed() }),
  })),
  'executor/tools/malformed-arguments-go-to-the-model': withTools((tool) => ({
    ...tool,
    parse: (input) => JSON.parse(String(input)) as unknown,
  })),
  'executor/tools/unknown-one-goes-to-the-model': withAgent((agent) => ({
    ...agent,
    tools: [anything('no_such_tool')],
  })),
  'executor/tools/failure-goes-to-the-model-without-secrets': withTools((tool) => ({
    ...tool,
    execute: (input, context) =>
      tool.execute(input, context).catch((error: unknown) => {
        throw new ToolFailedError('tool-failed', String(error))
      }),
  })),
  'executor/tools/time-limit-goes-to-the-model': noTimers,
  'executor/crash/started-call-is-reported-as-unknown': withStore((good) => ({
    beginStep: (step) => good.beginStep({ ...step, journal: [] }),
  })),
  'executor/crash/completed-call-is-not-run-again': withStore(() => ({
    completeToolCall: async () => {},
  })),
  'executor/crash/late-process-disturbs-nothing': withStore((good) => ({
    completeToolCall: async () => {},
    commitStep: async (commit) => {
      const holder = await good.loadSession(commit.sessionId)
      await good.commitStep({ ...commit, runId: holder?.runId ?? '' })
    },
  })),
  'executor/tools/workspace-tools-check-their-arguments': withModel(
    (good) => async (input) =>
      mapCalls(await good.generateStep(input), (call) => ({
        ...call,
        arguments: { path: '/a', content: '' },
      })),
  ),

  'executor/limits/deep-arguments-go-to-the-model': withModel((good) => async (input) => {
    const step = await good.generateStep(input)
    if (step.type !== 'tool_calls') return step
    return { ...step, toolCalls: step.toolCalls.map((call) => ({ ...call, arguments: {} })) }
  }),
  'executor/limits/answer-that-is-too-large-is-not-stored': withModel((good) => async (input) => {
    const step = await good.generateStep({ ...input, callbacks: {} })
    return step.type === 'text' ? { ...step, content: step.content.slice(0, 9) } : step
  }),
  'executor/limits/call-without-a-name-is-not-stored': withModel((good) => async (input) => {
    const step = await good.generateStep(input)
    return step.type === 'tool_calls' ? { type: 'text', content: '', shouldStop: true } : step
  }),
  'executor/crash/decided-run-ends-as-it-was-decided': withStore((good) => ({
    beginRun: async (start) => ({ ...(await good.beginRun(start)), outcome: undefined as never }),
  })),
  'executor/crash/decided-run-goes-on-with-a-message': withExecutor((good) => ({
    execute: (agent, _, { sessionId }) => good.resume(agent, sessionId),
  })),
  'executor/crash/call-that-waited-was-not-started': withStore((good) => ({
    loadJournal: async (sessionId) =>
      (await good.loadJournal(sessionId)).map((entry, index) => {
        const { toolCallId, toolName } = entry
        const message = { role: 'tool', toolCallId, toolName, content: 'made up' } as const
        return index === 0 ? { ...entry, result: { message, endedAt: 0 } } : entry
      }),
  })),
  'executor/crash/state-is-what-the-kept-calls-did': withStore((good) => ({
    completeToolCall: (write) =>
      good.completeToolCall({ ...write, customState: undefined as never }),
  })),
  'executor/crash/finishing-call-still-ends-the-run': withStore((good) => ({
    completeToolCall: (write) => {
      const { finish: _, ...result } = write.result
      return good.completeToolCall({ ...write, result })
    },
  })),
  'executor/crash/stream-has-no-gap': withStreams((good) => ({
    resumeRun: (...run) => good.startRun(...run),
  })),
  'executor/restore/goes-on-from-the-checkpoint': withStore((good) => ({
    restoreCheckpoint: async (sessionId) => (await good.loadSession(sessionId))!,
  })),
  'executor/restore/is-announced-to-readers': withExecutor((_, { store }) => ({
    restoreCheckpoint: (_agent, sessionId, checkpointId) =>
      store.restoreCheckpoint(sessionId, checkpointId, LATER),
  })),
  'executor/restore/is-rejected-while-a-run-holds-the-session': withStore((good) => ({
    restoreCheckpoint: (sessionId, checkpointId) =>
      good.restoreCheckpoint(sessionId, checkpointId, LATER),
  })),
  'executor/restore/is-for-the-agent-of-the-session': withExecutor((good) => ({
    restoreCheckpoint: (agent, ...rest) =>
      good.restoreCheckpoint({ ...agent, name: 'agent' }, ...rest),
  })),

  'executor/workspace/files-are-there-in-the-next-step': withWorkspace((good) => ({
    fs: override(good.fs!, {
      writeFile: (path, _data, options) => good.fs!.writeFile(path, '', options),
    }),
  })),
  'executor/workspace/ref-is-stored-before-the-first-operation': withStore(() => ({
    saveWorkspaceRef: async () => {},
  })),
  'executor/workspace/unknown-kind-fails-at-execute': withAgent((agent) => ({
    ...agent,
    workspaces: {},
  })),
  'executor/workspace/interrupt-keeps-the-files': withWorkspace((good) => ({
    detach: () => good.close(),
  })),
  'executor/workspace/registry-is-there-while-a-run-is': withExecutor(() => ({
    getWorkspaceRegistry: () => undefined,
  })),
  'executor/workspace/no-registry-without-workspaces': withExecutor(() => ({
    getWorkspaceRegistry: () => ({ describe: () => [] }),
  })),
  'executor/branch/starts-with-the-messages-and-fresh-workspaces': withStore((good) => ({
    createSession: async (session) => {
      const source = await good.loadSession('session')
      return good.createSession({ ...session, workspaceRefs: source?.workspaceRefs ?? {} })
    },
  })),
  'executor/sub-agent/has-its-own-workspaces': withTools((tool) => inheriting(tool, true)),
  'executor/sub-agent/inherits-on-request': withTools((tool) => inheriting(tool, false)),
  'executor/sub-agent/result-is-the-tool-result': withChunks(
    (chunk) => chunk.type !== 'subagent_start',
  ),
}

function anything(name: string): Tool {
  return {
    name,
    description: '',
    annotations: { readOnly: true, destructive: false, idempotent: true },
    parameters: { type: 'object' },
    parse: (input) => input,
    execute: async () => '',
    toModelOutput: String,
  }
}

function inheriting(tool: Tool, inheritWorkspaces: boolean): Tool {
  const call = subAgentOf(tool)
  return call === undefined ? tool : ({ ...tool, subAgent: { ...call, inheritWorkspaces } } as Tool)
}

function mapCalls(step: StepResult, change: (call: ToolCall) => ToolCall): StepResult {
  return step.type === 'tool_calls' ? { ...step, toolCalls: step.toolCalls.map(change) } : step
}
