import {
  interactionBehaviours,
  type InteractionStore,
  type InteractionSubject,
} from '@helix-agents/workspace-conformance/store'
import { describe, expect, test } from 'vitest'
import { withLimits } from '../limit-saboteurs.ts'
import { createReferenceStore, type StoredSessions } from '../reference-store.ts'
import { isVerdict } from '../verdict.ts'
import { answerSaboteurs, inboxSaboteurs, signalSaboteurs } from './interaction-saboteurs.ts'
import { withInteractions } from './reference-interactions.ts'
import { requestSaboteurs } from './request-saboteurs.ts'

const saboteurs = { ...requestSaboteurs, ...answerSaboteurs, ...inboxSaboteurs, ...signalSaboteurs }

type Lost = (sessions: StoredSessions) => StoredSessions

/** What a durable store loses when it is opened again. */
const forgetful: Readonly<Record<string, Lost>> = {
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

function open(data: StoredSessions): InteractionStore {
  return withInteractions(withLimits(createReferenceStore(data)), data)
}

function createSubject(
  sabotage: (good: InteractionStore) => Partial<InteractionStore> = () => ({}),
  lose: Lost = (sessions) => sessions,
): InteractionSubject {
  const sessions: StoredSessions = new Map()
  const good = open(sessions)
  return {
    store: { ...good, ...sabotage(good) },
    reopen: async () => open(lose(structuredClone(sessions))),
  }
}

test('each behaviour has a saboteur', () => {
  const ids = interactionBehaviours.map((behaviour) => behaviour.id)
  expect(Object.keys({ ...saboteurs, ...forgetful })).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

describe.each(interactionBehaviours)('$id', (behaviour) => {
  test('accepts the reference', async () => {
    await expect(behaviour.run(createSubject())).resolves.toBeUndefined()
  })

  test('rejects its saboteur', async () => {
    const broken = createSubject(saboteurs[behaviour.id], forgetful[behaviour.id])
    await expect(behaviour.run(broken)).rejects.toSatisfy(isVerdict)
  })
})
