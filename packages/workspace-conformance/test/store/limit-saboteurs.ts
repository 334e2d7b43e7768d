import {
  assertStorable,
  isMessage,
  type SessionStateStore,
  type StorableWrite,
} from '@helix-agents/core/runtime'
import type { Broken } from './session-saboteurs.ts'

/** The same store, with what every store checks before it stores anything. */
export function withLimits(store: SessionStateStore): SessionStateStore {
  return {
    ...store,
    createSession: async (session) => {
      assertStorable({ ...session, customState: { value: session.customState } })
      return store.createSession(session)
    },
    beginRun: async (start) => checked(start, () => store.beginRun(start)),
    endRun: async (end) => checked(end, () => store.endRun(end)),
    appendMessages: async (append) => checked(append, () => store.appendMessages(append)),
    beginStep: async (step) => checked(step, () => store.beginStep(step)),
    completeToolCall: async (completion) =>
      checked(completion, () => store.completeToolCall(completion)),
    commitStep: async (commit) => checked(commit, () => store.commitStep(commit)),
  }
}

function checked<R>(write: StorableWrite, store: () => Promise<R>): Promise<R> {
  assertStorable(write)
  return store()
}

/** Each takes what it should refuse, and keeps less of it. */
export const limitSaboteurs: Readonly<Record<string, (good: SessionStateStore) => Broken>> = {
  'store/limits/ids': (good) => ({
    createSession: ({ tags = [], ...session }) =>
      good.createSession({ ...session, tags: tags.map((tag) => tag.slice(0, 1024)) }),
  }),
  'store/limits/depth': (good) => ({
    commitStep: (commit) => good.commitStep(commit).catch(() => undefined),
  }),
  'store/limits/size': (good) => ({
    appendMessages: ({ messages, ...append }) =>
      good.appendMessages({
        ...append,
        messages: messages.map((message) =>
          message.role === 'user' ? { ...message, content: message.content.slice(0, 9) } : message,
        ),
      }),
  }),
  'store/limits/shape-of-messages': (good) => ({
    beginStep: ({ messages, ...step }) =>
      good.beginStep({ ...step, messages: messages.filter(isMessage) }),
  }),
}
