import { NO_SPENDING, type SessionStateStore } from '@helix-agents/core/runtime'
import type { Broken } from './session-saboteurs.ts'
import { without } from './without.ts'

/** Behaviour id → what a store gets wrong of what runs use. */
export const spendingSaboteurs: Readonly<Record<string, (good: SessionStateStore) => Broken>> = {
  'store/spending/is-absent-before-the-first-word-of-it': (good) => ({
    loadSession: async (sessionId) => {
      const head = await good.loadSession(sessionId)
      return head && { spending: NO_SPENDING, ...head }
    },
  }),
  'store/spending/is-stored-with-the-answer-before-its-tools-run': (good) => ({
    beginStep: (step) => good.beginStep(without(step, 'spending')),
  }),
  'store/spending/stands-until-it-is-replaced': (good) => ({
    commitStep: (commit) => good.commitStep({ spending: NO_SPENDING, ...commit }),
  }),
  'store/spending/begins-anew-with-a-message': (good) => ({
    appendMessages: (append) => good.appendMessages(without(append, 'spending')),
  }),
}
