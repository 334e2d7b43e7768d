import type { SessionStateStore } from '@helix-agents/core/runtime'
import type { Broken } from './session-saboteurs.ts'
import { without } from './without.ts'

/** Behaviour id → what a store gets wrong. Each must be caught by its behaviour. */
export const holdSaboteurs: Readonly<Record<string, (good: SessionStateStore) => Broken>> = {
  'store/hold/changes-nothing-else': (good) => ({
    beginRun: (start) => good.beginRun(without(start, 'hold')),
  }),
  'store/hold/keeps-runs-away-until-its-lease-ends': (good) => ({
    beginRun: async (start) => {
      const head = await good.loadSession(start.sessionId)
      return start.hold === true && head !== null ? head : good.beginRun(start)
    },
  }),
  'store/hold/writes-and-says-how-it-stands-afterwards': (good) => ({
    endRun: async (end) => ({ ...(await good.endRun(end)), runId: end.runId }),
  }),
  'store/hold/fences-a-run-that-was-given-up': (good) => ({
    beginRun: async (start) => {
      const { now } = start
      if (start.hold !== true) return good.beginRun(start)
      const [run] = await good.listRuns(start.sessionId)
      const [sessionId, runId] = [start.sessionId, run?.runId ?? '']
      await good.endRun({ sessionId, runId, now, status: 'interrupted' })
      return good.beginRun(start)
    },
  }),
  'store/hold/of-a-session-without-a-run': (good) => ({
    beginRun: async (start) => ({ ...(await good.beginRun(start)), status: 'running' }),
  }),
}
