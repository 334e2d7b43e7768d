import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { openDurableObjectStores } from '@helix-agents/store-cloudflare'
import { expect, test } from 'vitest'
import { providersThatSign, ReasoningStory, SIGNATURES } from '../reasoning-story.ts'

test.each(providersThatSign)('%s: what is signed outlives the object', async (provider) => {
  const story = new ReasoningStory(provider)
  const stub = env.SESSIONS.getByName(provider)
  const tell = (part: 'begin' | 'goOn') =>
    runInDurableObject(stub, async (_, { storage }) => {
      await story[part]((await openDurableObjectStores(storage)).stateStore)
    })
  await tell('begin')
  await evictDurableObject(stub)
  await tell('goOn')
  expect(story.signaturesSent()).toEqual(SIGNATURES)
})
