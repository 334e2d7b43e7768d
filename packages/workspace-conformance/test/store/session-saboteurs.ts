import type { SessionState, SessionStateStore } from '@helix-agents/core/runtime'
import { without } from './without.ts'

export type Broken = Partial<SessionStateStore>

/** Behaviour id → what a store gets wrong. Each must be caught by its behaviour. */
export const sessionSaboteurs: Readonly<Record<string, (good: SessionStateStore) => Broken>> = {
  'store/session/starts-idle-and-empty': (good) => ({
    createSession: async (session) => ({
      ...(await good.createSession(session)),
      status: 'running',
    }),
  }),
  'store/session/keeps-labels-and-parent': (good) => headsWithout(good, 'metadata'),
  'store/session/branch-starts-with-messages-and-refs': (good) => ({
    createSession: (session) => good.createSession(without(session, 'messages')),
  }),
  'store/session/custom-state-round-trip': (good) => ({
    createSession: (session) =>
      good.createSession({ ...session, customState: session.customState ?? null }),
  }),
  'store/session/existing-is-a-conflict': (good) => ({
    createSession: async (session) => {
      await good.deleteSession(session.sessionId)
      return good.createSession(session)
    },
  }),
  'store/session/unknown-loads-as-null': (good) => ({
    loadSession: async (sessionId) => (await good.loadSession(sessionId)) ?? ({} as SessionState),
  }),
  'store/session/unknown-is-not-found': () => ({ loadJournal: async () => [] }),
  'store/session/keeps-sessions-apart': (good) => ({
    loadMessages: (sessionId) => good.loadMessages(sessionId.toLowerCase()),
  }),
  'store/session/version-rises-by-one-with-each-change': (good) => ({
    saveWorkspaceRef: async (write) => {
      await good.saveWorkspaceRef(write)
      await good.saveWorkspaceRef(write)
    },
  }),
  'store/session/updated-at-follows-the-writes': (good) => ({
    appendMessages: (write) => good.appendMessages({ ...write, now: write.now - 1 }),
  }),
  'store/session/delete-removes-everything': (good) => {
    const deleted = new Map<string, Awaited<ReturnType<SessionStateStore['listRuns']>>>()
    return {
      deleteSession: async (sessionId) => {
        deleted.set(sessionId, await good.listRuns(sessionId))
        await good.deleteSession(sessionId)
      },
      listRuns: async (sessionId) => deleted.get(sessionId) ?? good.listRuns(sessionId),
    }
  },
  'store/session/delete-unknown-does-nothing': (good) => ({
    deleteSession: async (sessionId) => {
      await good.listRuns(sessionId)
      await good.deleteSession(sessionId)
    },
  }),

  'store/messages/keep-every-field-and-their-order': (good) => ({
    commitStep: (commit) => good.commitStep({ ...commit, messages: commit.messages.toReversed() }),
  }),
  'store/messages/keep-bytes': (good) => ({
    loadMessages: async (sessionId) =>
      JSON.parse(JSON.stringify(await good.loadMessages(sessionId))) as never,
  }),
  'store/messages/page-by-offset-and-limit': (good) => ({
    loadMessages: async (...args) => ({ ...(await good.loadMessages(...args)), hasMore: false }),
  }),
  'store/messages/page-may-be-empty': (good) => ({
    loadMessages: (sessionId, query) =>
      good.loadMessages(sessionId, query?.limit === 0 ? {} : query),
  }),
  'store/messages/bad-query-is-rejected': (good) => ({
    loadMessages: (sessionId) => good.loadMessages(sessionId),
  }),
  'store/messages/loaded-ones-do-not-change': (good) => {
    const all: unknown[] = []
    return {
      appendMessages: async (write) => {
        await good.appendMessages(write)
        all.push(...write.messages)
      },
      loadMessages: async () => ({ messages: all as never, total: all.length, hasMore: false }),
    }
  },
  'store/messages/all-of-a-long-session': (good) => ({
    loadMessages: (sessionId) => good.loadMessages(sessionId, { limit: 1000 }),
  }),
  'store/messages/come-with-the-state': (good) => ({
    appendMessages: (append) => good.appendMessages(without(append, 'customState')),
  }),

  'store/run/begin-makes-it-running': (good) => ({
    beginRun: async (start) => ({ ...(await good.beginRun(start)), status: 'idle' }),
  }),
  'store/run/one-at-a-time': (good) => stealing(good),
  'store/run/one-of-many-concurrent-wins': (good) => stealing(good),
  'store/run/lease-ends-on-time': (good) => ({
    beginRun: (start) => good.beginRun({ ...start, leaseMs: start.leaseMs - 1 }),
  }),
  'store/run/renew-prolongs-the-lease': () => ({ renewRun: async () => {} }),
  'store/run/reports-until-when-it-is-held': (good) => ({
    loadSession: async (sessionId) => {
      const { leaseUntil: _, ...head } = (await good.loadSession(sessionId))!
      return head
    },
  }),
  'store/run/end-keeps-what-is-owed-until-the-next': (good) => ({
    endRun: async (end) => good.endRun({ ...end, owed: [] }),
  }),
  'store/run/remembers-whether-workspaces-outlive-it': (good) => ({
    beginRun: (start) => good.beginRun({ keepWorkspaces: false, ...start }),
  }),
  'store/run/late-one-continues-without-a-successor': (good) => ({
    renewRun: (write) => good.renewRun({ ...write, runId: 'lost' }),
  }),
  'store/run/fences-the-one-before': (good) => ({
    completeToolCall: async (write) => {
      const runId = (await good.loadSession(write.sessionId))?.runId ?? ''
      await good.completeToolCall({ ...write, runId })
    },
  }),
  'store/run/records-an-abandoned-one-as-interrupted': (good) => ({
    listRuns: async (sessionId) =>
      (await good.listRuns(sessionId)).map((run) => ({ ...run, status: 'running' })),
  }),
  'store/run/end-releases-the-session': (good) => ({
    renewRun: async () => {},
    endRun: (end) => good.endRun(end),
  }),
  'store/run/end-keeps-output-and-error-until-the-next': (good) => {
    let output: SessionState['output']
    return {
      endRun: (end) => {
        output = end.output ?? output
        return good.endRun(end)
      },
      loadSession: async (sessionId) => {
        const head = await good.loadSession(sessionId)
        return head && output !== undefined ? { ...head, output } : head
      },
    }
  },
  'store/run/every-end-status': (good) => ({
    endRun: (end) =>
      good.endRun({ ...end, status: end.status === 'aborted' ? 'failed' : end.status }),
  }),
  'store/run/begins-only-at-the-version-that-was-read': (good) => ({
    beginRun: async (start) => {
      const version = (await good.loadSession(start.sessionId))?.version
      return good.beginRun({ ...start, ...(version !== undefined && { version }) })
    },
  }),
  'store/run/id-is-used-once': (good) => ({
    beginRun: (start) =>
      good.beginRun(start).catch(() => good.beginRun({ ...start, runId: `${start.runId}-again` })),
  }),
  'store/run/records-are-oldest-first': (good) => ({
    listRuns: async (sessionId) => (await good.listRuns(sessionId)).toReversed(),
  }),
}

/** Takes the session from whoever holds it. */
function stealing(good: SessionStateStore): Broken {
  return {
    beginRun: (start) => good.beginRun({ ...start, leaseMs: 0 }),
  }
}

/** Loses a field of every head. */
function headsWithout(good: SessionStateStore, key: keyof SessionState): Broken {
  return {
    loadSession: async (sessionId) => {
      const head = await good.loadSession(sessionId)
      return head && { ...head, [key]: undefined }
    },
  }
}
