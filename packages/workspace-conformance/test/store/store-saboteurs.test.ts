import type { SessionStateStore } from '@helix-agents/core'
import { type StoreSubject, storeBehaviours } from '@helix-agents/workspace-conformance/store'
import { describe, expect, test } from 'vitest'
import { createReferenceStore, type StoredSessions } from './reference-store.ts'
import { isVerdict } from './verdict.ts'
import { sessionSaboteurs } from './session-saboteurs.ts'
import { stepSaboteurs } from './step-saboteurs.ts'
import { without } from './without.ts'

const storeSaboteurs = { ...sessionSaboteurs, ...stepSaboteurs }

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
}

function createSubject(
  sabotage: (good: SessionStateStore) => Partial<SessionStateStore> = () => ({}),
  lose: Lost = (sessions) => sessions,
): StoreSubject {
  const sessions: StoredSessions = new Map()
  const good = createReferenceStore(sessions)
  return {
    store: { ...good, ...sabotage(good) },
    reopen: async () => createReferenceStore(lose(structuredClone(sessions))),
  }
}

test('each behaviour has a saboteur', () => {
  const ids = storeBehaviours.map((behaviour) => behaviour.id)
  expect([...Object.keys(storeSaboteurs), ...Object.keys(forgetful)]).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

describe.each(storeBehaviours)('$id', (behaviour) => {
  test('accepts the reference', async () => {
    await expect(behaviour.run(createSubject())).resolves.toBeUndefined()
  })

  test('rejects its saboteur', async () => {
    const broken = createSubject(storeSaboteurs[behaviour.id], forgetful[behaviour.id])
    await expect(behaviour.run(broken)).rejects.toSatisfy(isVerdict)
  })
})
