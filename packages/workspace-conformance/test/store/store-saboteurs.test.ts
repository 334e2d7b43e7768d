import type { SessionStateStore } from '@helix-agents/core/runtime'
import { type StoreSubject, storeBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, expect, test } from 'vitest'
import { callSaboteurs } from './call-saboteurs.ts'
import { historySaboteurs } from './history-saboteurs.ts'
import { holdSaboteurs } from './hold-saboteurs.ts'
import {
  answerSaboteurs,
  inboxSaboteurs,
  signalSaboteurs,
} from './interaction/interaction-saboteurs.ts'
import { requestSaboteurs } from './interaction/request-saboteurs.ts'
import { limitSaboteurs, withLimits } from './limit-saboteurs.ts'
import { createReferenceStore, type StoredSessions } from './reference-store.ts'
import { isVerdict } from './verdict.ts'
import { sessionSaboteurs } from './session-saboteurs.ts'
import { usageSaboteurs } from './usage-saboteurs.ts'
import { stepSaboteurs } from './step-saboteurs.ts'
import { without } from './without.ts'

const storeSaboteurs = {
  ...sessionSaboteurs,
  ...stepSaboteurs,
  ...historySaboteurs,
  ...usageSaboteurs,
  ...callSaboteurs,
  ...holdSaboteurs,
  ...limitSaboteurs,
  ...requestSaboteurs,
  ...answerSaboteurs,
  ...inboxSaboteurs,
  ...signalSaboteurs,
}

/** What a store gets wrong of sessions that were damaged. */
const careless: Readonly<Record<string, (good: SessionStateStore) => Partial<SessionStateStore>>> =
  {
    'store/damage/is-reported-as-corrupt': (good) => ({
      loadSession: (sessionId) => good.loadSession(sessionId).catch(() => null),
    }),
    'store/damage/does-not-touch-other-sessions': (good) => ({
      createSession: async (session) => {
        for (const one of ['broken', 'before', 'after']) await good.loadSession(one)
        return good.createSession(session)
      },
    }),
    'store/damage/does-not-hide-others-in-lists': (good) => ({
      listSessions: async (query) => without(await good.listSessions(query), 'unreadable'),
    }),
    'store/damage/is-not-overwritten-and-can-be-deleted': (good) => ({
      deleteSession: async (sessionId) => {
        await good.loadSession(sessionId)
        await good.deleteSession(sessionId)
      },
    }),
  }

type Lost = (sessions: StoredSessions) => StoredSessions

/** What a durable store loses when it is opened again. */
const forgetful: Readonly<Record<string, Lost>> = {
  'store/durable/steps-survive': (sessions) => {
    for (const stored of sessions.values()) stored.head = { ...stored.head, workspaceRefs: {} }
    return sessions
  },
  'store/durable/journal-survives': (sessions) => {
    for (const stored of sessions.values()) {
      stored.journal = stored.journal.map((entry) => without(entry, 'result'))
    }
    return sessions
  },
  'store/durable/claim-survives': (sessions) => {
    for (const stored of sessions.values()) stored.holder = undefined
    return sessions
  },
  'store/durable/outcome-survives': (sessions) => {
    for (const stored of sessions.values()) stored.head = without(stored.head, 'outcome') as never
    return sessions
  },
  'store/durable/usage-survives': (sessions) => {
    for (const stored of sessions.values()) stored.head = without(stored.head, 'usage') as never
    return sessions
  },
  'store/durable/state-of-a-recorded-call-survives': (sessions) => {
    for (const stored of sessions.values()) stored.head = { ...stored.head, fileLedgers: {} }
    return sessions
  },
  'store/durable/hostile-data-survives': (sessions) => {
    for (const stored of sessions.values()) {
      stored.messages = JSON.parse(JSON.stringify(stored.messages)) as never
    }
    return sessions
  },
  'store/durable/requests-and-answers-survive': (sessions) => {
    for (const one of [...sessions.values()].flatMap(({ requests }) => requests)) {
      const { startedAt: _, ...request } = one.request
      one.request = request
    }
    return sessions
  },
  'store/durable/messages-and-stops-survive': (sessions) => {
    for (const stored of sessions.values()) {
      stored.inbox = stored.inbox.filter(({ isQueued }) => isQueued)
    }
    return sessions
  },
}

function createSubject(
  sabotage: (good: SessionStateStore) => Partial<SessionStateStore> = () => ({}),
  lose: Lost = (sessions) => sessions,
): StoreSubject {
  const sessions: StoredSessions = new Map()
  const good = withLimits(createReferenceStore(sessions))
  return {
    store: { ...good, ...sabotage(good) },
    reopen: async () => createReferenceStore(lose(structuredClone(sessions))),
    damage: async (sessionId) => {
      sessions.get(sessionId)!.isDamaged = true
    },
  }
}

test('each behaviour has a saboteur', () => {
  const ids = storeBehaviours.map((behaviour) => behaviour.id)
  const all = { ...storeSaboteurs, ...careless, ...forgetful }
  expect(Object.keys(all).toSorted()).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
})

describe.each(storeBehaviours)('$id', (behaviour) => {
  test('accepts the reference', async () => {
    await expect(behaviour.run(createSubject())).resolves.toBeUndefined()
  })

  test('rejects its saboteur', async () => {
    const sabotage = storeSaboteurs[behaviour.id] ?? careless[behaviour.id]
    const broken = createSubject(sabotage, forgetful[behaviour.id])
    await expect(behaviour.run(broken)).rejects.toSatisfy(isVerdict)
  })
})
