import type { JsonValue, Message } from '@helix-agents/core'
import type { SessionStateStore, StoredOutcome } from '@helix-agents/core/runtime'
import type { Broken } from './session-saboteurs.ts'
import { without } from './without.ts'

/** Behaviour id → what a store gets wrong. Each must be caught by its behaviour. */
export const callSaboteurs: Readonly<Record<string, (good: SessionStateStore) => Broken>> = {
  'store/call/may-have-no-arguments': (good) => ({
    loadJournal: async (sessionId) =>
      (await good.loadJournal(sessionId)).map((entry) => ({
        ...entry,
        arguments: entry.arguments ?? null,
      })),
  }),
  'store/call/stores-the-state-with-its-result': (good) => ({
    completeToolCall: (write) =>
      good.completeToolCall(
        write.customState?.value === undefined ? without(write, 'customState') : write,
      ),
  }),
  'store/call/stores-ledgers-with-its-result': (good) => ({
    completeToolCall: (write) => good.completeToolCall(without(write, 'fileLedgers')),
  }),
  'store/call/keeps-what-it-did-not-change': (good) => ({
    completeToolCall: (write) =>
      good.completeToolCall({ customState: { value: undefined }, ...write }),
  }),
  'store/call/changes-nothing-when-it-is-unknown': (good) => ({
    completeToolCall: async (write) => {
      await good.commitStep({ ...write, messages: [], checkpointId: 'cp' })
      await good.completeToolCall(write)
    },
  }),
  'store/call/counts-as-a-change': (good) => ({
    completeToolCall: (write) => good.completeToolCall({ ...write, now: write.now - 1 }),
  }),
  'store/call/keeps-how-it-finishes-the-run': (good) => ({
    completeToolCall: (write) =>
      good.completeToolCall({ ...write, result: without(write.result, 'finish') }),
  }),
  'store/call/keeps-errors-and-bytes-of-its-result': (good) => ({
    loadJournal: async (sessionId) => throughJson(await good.loadJournal(sessionId)),
  }),
  'store/call/outlives-its-run': (good) => ({
    loadJournal: async (sessionId) =>
      (await good.loadJournal(sessionId)).map((entry) =>
        entry.result === undefined ? entry : { ...entry, result: without(entry.result, 'finish') },
      ),
  }),
  'store/call/is-taken-back-by-restoring': (good) => ({
    restoreCheckpoint: async (sessionId, id, now) => {
      const before = await good.loadSession(sessionId)
      const head = await good.restoreCheckpoint(sessionId, id, now)
      const run = { sessionId, runId: 'fix', now }
      await good.beginRun({ ...run, leaseMs: 1 })
      const customState = { value: before?.customState }
      await good.commitStep({ ...run, messages: [], checkpointId: 'fix', customState })
      return head
    },
  }),

  'store/outcome/is-stored-with-its-step': (good) => ({
    commitStep: (commit) => good.commitStep(without(commit, 'outcome')),
  }),
  'store/outcome/keeps-every-kind': (good) => ({
    commitStep: (commit) =>
      good.commitStep(
        commit.outcome === undefined
          ? commit
          : { ...commit, outcome: { ...commit.outcome, output: commit.outcome.output ?? null } },
      ),
  }),
  'store/outcome/outlives-its-run': (good) => ({
    beginRun: async (start) => without(await good.beginRun(start), 'outcome'),
  }),
  'store/outcome/ends-with-the-run': (good) => remembering(good, []),
  'store/outcome/a-message-clears-it': (good) => remembering(good, ['endRun', 'beginStep']),
  'store/outcome/a-step-clears-it': (good) => remembering(good, ['endRun', 'appendMessages']),
  'store/outcome/restoring-clears-it': (good) => remembering(good, ['endRun', 'beginStep']),
  'store/outcome/is-fenced': (good) => ({
    commitStep: async (commit) => {
      const runId = (await good.loadSession(commit.sessionId))?.runId ?? ''
      await good.commitStep({ ...commit, runId })
    },
  }),

  'store/hostile/ids-of-sessions': (good) => ({
    createSession: (session) =>
      good.createSession({ ...session, sessionId: session.sessionId.slice(0, 199) }),
    loadSession: (sessionId) => good.loadSession(sessionId.slice(0, 199)),
  }),
  'store/hostile/ids-of-calls': (good) => ({
    completeToolCall: (write) =>
      good.completeToolCall({ ...write, toolCallId: write.toolCallId.trim() }),
  }),
  'store/hostile/names-of-workspaces': (good) => ({
    saveWorkspaceRef: (write) =>
      good.saveWorkspaceRef({ ...write, workspace: write.workspace.replaceAll('-', '_') }),
  }),
  'store/hostile/texts': (good) => ({
    appendMessages: (write) =>
      good.appendMessages({ ...write, messages: write.messages.map(wellFormed) }),
  }),
  'store/hostile/values': (good) => ({
    commitStep: (commit) =>
      good.commitStep(
        commit.customState === undefined
          ? commit
          : { ...commit, customState: { value: reassigned(commit.customState.value) } },
      ),
  }),
  'store/hostile/bytes': (good) => ({
    appendMessages: (write) =>
      good.appendMessages({ ...write, messages: write.messages.map(withWholeBuffers) }),
  }),
  'store/hostile/ten-thousand-messages': (good) => ({
    loadMessages: async (sessionId, query = {}) => {
      const page = await good.loadMessages(sessionId, query)
      return { ...page, hasMore: page.hasMore && (query.offset ?? 0) < 5000 }
    },
  }),
}

function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

type Clearing = 'endRun' | 'appendMessages' | 'beginStep'

/** Forgets outcomes only where it is told to. */
function remembering(good: SessionStateStore, clearing: readonly Clearing[]): Broken {
  let outcome: StoredOutcome | undefined
  const note = (name: Clearing): void => {
    if (clearing.includes(name)) outcome = undefined
  }
  const withOutcome = <T extends object | null>(head: T): T =>
    head && outcome !== undefined ? { ...head, outcome } : head
  return {
    commitStep: async (commit) => {
      outcome = commit.outcome ?? outcome
      await good.commitStep(commit)
    },
    endRun: async (end) => {
      note('endRun')
      return withOutcome(await good.endRun(end))
    },
    appendMessages: async (write) => {
      note('appendMessages')
      await good.appendMessages(write)
    },
    beginStep: async (step) => {
      note('beginStep')
      await good.beginStep(step)
    },
    restoreCheckpoint: async (...args) => withOutcome(await good.restoreCheckpoint(...args)),
    loadSession: async (sessionId) => withOutcome(await good.loadSession(sessionId)),
  }
}

function wellFormed(message: Message): Message {
  return typeof message.content === 'string'
    ? { ...message, content: message.content.toWellFormed() }
    : message
}

/** Copies an object key by key, as code does that knows nothing of `__proto__`. */
function reassigned(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const copy: Record<string, JsonValue | undefined> = {}
  for (const [key, field] of Object.entries(value)) copy[key] = field
  return copy
}

/** Takes the buffer behind a view for its bytes. */
function withWholeBuffers(message: Message): Message {
  if (message.role !== 'user' || message.files === undefined) return message
  const files = message.files.map((file) =>
    typeof file.data === 'string' ? file : { ...file, data: new Uint8Array(file.data.buffer) },
  )
  return { ...message, files }
}
