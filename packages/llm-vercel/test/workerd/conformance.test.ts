// The same suite inside workerd, where a provider is reached by `fetch`: here by one that is a wire.
import { defineConformance } from '@helix-agents/workspace-conformance'
import { modelBehaviours } from '@helix-agents/workspace-conformance/model'
import { describe, it } from 'vitest'
import { createMockModelSubject, mockOffers } from '../mock-model-subject.ts'
import { fetchOf } from '../wire/wire-fetch.ts'
import { createWireSubject, providerNames, providers } from '../wire/wire-subjects.ts'

const runner = { it, fails: it.fails }

describe('over the mock model of the AI SDK', () => {
  defineConformance(runner, modelBehaviours, {
    create: async () => createMockModelSubject(),
    offers: mockOffers,
  })
})

describe.each(providerNames)('over fetch, %s', (name) => {
  defineConformance(runner, modelBehaviours, {
    create: () =>
      createWireSubject(name, (wire) => ({ url: 'https://wire.test/v1', fetch: fetchOf(wire) })),
    offers: providers[name].offers,
  })
})
