// Behaviours run inside an object. Those that open it again run outside, each of their calls
// inside whatever instance the object has by then: `durable` is a real eviction between two calls.
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { type Behaviour, defineConformance } from '@helix-agents/workspace-conformance'
import {
  storeBehaviours,
  type StoreSubject,
  streamBehaviours,
  type StreamSubject,
} from '@helix-agents/workspace-conformance/store'
import type { DurableObjectStores } from '@helix-agents/store-cloudflare'
import { describe, it } from 'vitest'
import { remoteStore, remoteStreams, type StoreStub, withStores } from './stored.ts'

const runner = { it, fails: it.fails }
const maxBufferedChunks = 10
const create = async (): Promise<StoreStub> => env.STORE.getByName(crypto.randomUUID())

interface Subjects<Subject> {
  readonly inside: (stores: DurableObjectStores) => Subject
  readonly outside: (stub: StoreStub) => Subject
}

function inObjects<Subject>(
  behaviours: readonly Behaviour<Subject>[],
  { inside, outside }: Subjects<Subject>,
): readonly Behaviour<StoreStub>[] {
  return behaviours.map((behaviour) => ({
    ...behaviour,
    run: (stub) =>
      !opensAgain(behaviour)
        ? withStores(stub, (stores) => behaviour.run(inside(stores)))
        : behaviour.run(outside(stub)),
  }))
}

function opensAgain({ needs = [] }: Behaviour<never>): boolean {
  return needs.some((need) => need === 'durable' || need === 'damage')
}

describe('DOStateStore', () => {
  const behaviours = inObjects<StoreSubject>(storeBehaviours, {
    inside: ({ stateStore }) => ({ store: stateStore }),
    outside: (stub) => {
      const store = remoteStore(stub)
      const reopen = () => evictDurableObject(stub).then(() => store)
      return { store, reopen, damage: (sessionId) => damage(stub, sessionId) }
    },
  })
  defineConformance(runner, behaviours, { create, offers: ['durable', 'damage'] })
})

describe('DOStreamManager', () => {
  const behaviours = inObjects<StreamSubject>(streamBehaviours, {
    inside: ({ streamManager }) => ({ streams: streamManager, maxBufferedChunks }),
    outside: (stub) => {
      const streams = remoteStreams(stub)
      const reopen = () => evictDurableObject(stub).then(() => streams)
      return { streams, maxBufferedChunks, reopen }
    },
  })
  defineConformance(runner, behaviours, { create, offers: ['durable', 'immediate'] })
})

function damage(stub: StoreStub, sessionId: string): Promise<void> {
  return withStores(stub, async (_, storage) => {
    storage.sql.exec("UPDATE helix_sessions SET status = 'asleep' WHERE session_id = ?", sessionId)
  })
}
