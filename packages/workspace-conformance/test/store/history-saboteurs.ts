import type { SessionStateStore } from '@helix-agents/core/runtime'
import type { Broken } from './session-saboteurs.ts'

/** Behaviour id → what a store gets wrong. Each must be caught by its behaviour. */
export const historySaboteurs: Readonly<Record<string, (good: SessionStateStore) => Broken>> = {
  'store/history/a-checkpoint-has-the-files-of-its-last-change': (good) => ({
    getCheckpoint: async (sessionId, id) => {
      const found = await good.getCheckpoint(sessionId, id)
      const { snapshots } = await good.loadHistory(sessionId)
      const isOwn = snapshots.some(({ stepCount }) => stepCount === found?.stepCount)
      return found && { ...found, ...(!isOwn && { workspaceSnapshots: {} }) }
    },
  }),
  'store/history/without-files-a-checkpoint-has-none': (good) => ({
    getCheckpoint: async (sessionId, id) => {
      const found = await good.getCheckpoint(sessionId, id)
      return found && { workspaceSnapshots: {}, ...found }
    },
  }),
  'store/history/eviction-is-said-and-takes-nothing-else': (good) => ({
    commitStep: ({ evictBefore = {}, ...commit }) => {
      const more = Object.entries(evictBefore).map(([name, step]) => [name, step + 1])
      return good.commitStep({ ...commit, evictBefore: Object.fromEntries(more) })
    },
  }),
  'store/history/going-back-forgets-later-files-and-knows-that-they-changed': (good) => ({
    loadHistory: async (sessionId) => ({ ...(await good.loadHistory(sessionId)), changed: [] }),
  }),
  'store/history/files-are-switched-with-the-conversation': (good) => ({
    restoreCheckpoint: (sessionId, id, now, { runId } = {}) =>
      good.restoreCheckpoint(sessionId, id, now, runId === undefined ? {} : { runId }),
  }),
  'store/history/only-the-holder-goes-back-while-the-session-is-held': (good) => ({
    restoreCheckpoint: async (sessionId, id, now, { files = {} } = {}) => {
      const { runId = '' } = (await good.loadSession(sessionId))!
      return good.restoreCheckpoint(sessionId, id, now, { runId, files })
    },
  }),
  'store/history/a-step-clears-what-it-keeps': (good) => ({
    loadHistory: async (sessionId) => {
      const history = await good.loadHistory(sessionId)
      return { ...history, changed: [...new Set([...history.changed, 'box'])] }
    },
  }),
  'store/history/a-ref-that-is-let-go-is-recorded-when-that-is-asked': (good) => ({
    saveWorkspaceRef: (write) => good.saveWorkspaceRef({ ...write, releasesOld: true }),
  }),
  'store/history/knows-the-refs-of-every-checkpoint': (good) => ({
    loadHistory: async (sessionId) => {
      const { workspaceRefs } = (await good.loadSession(sessionId))!
      return { ...(await good.loadHistory(sessionId)), refs: Object.values(workspaceRefs) }
    },
  }),
  'store/history/what-is-made-for-a-branch-is-recorded-with-it': (good) => ({
    recordReleased: (sessionId, released, now) =>
      good.recordReleased(
        sessionId,
        'branchId' in released ? { branchId: released.branchId } : released,
        now,
      ),
  }),
  'store/history/what-is-released-can-be-forgotten': () => ({ forgetReleased: async () => {} }),
}
