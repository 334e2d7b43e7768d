import { NO_USAGE, type SessionStateStore } from '@helix-agents/core/runtime'
import type { Broken } from './session-saboteurs.ts'
import { without } from './without.ts'

/** Behaviour id → what a store gets wrong of what runs use. */
export const usageSaboteurs: Readonly<Record<string, (good: SessionStateStore) => Broken>> = {
  'store/usage/is-absent-before-the-first-word-of-it': (good) => ({
    loadSession: async (sessionId) => {
      const head = await good.loadSession(sessionId)
      return head && { usage: NO_USAGE, ...head }
    },
  }),
  'store/usage/is-stored-with-the-answer-before-its-tools-run': (good) => ({
    beginStep: (step) => good.beginStep(without(step, 'usage')),
  }),
  'store/usage/stands-until-it-is-replaced': (good) => ({
    commitStep: (commit) => good.commitStep({ usage: NO_USAGE, ...commit }),
  }),
  'store/usage/begins-anew-with-a-message': (good) => ({
    appendMessages: (append) => good.appendMessages(without(append, 'usage')),
  }),
}
