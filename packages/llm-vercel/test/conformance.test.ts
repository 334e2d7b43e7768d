import { defineConformance } from '@helix-agents/workspace-conformance'
import { modelBehaviours } from '@helix-agents/workspace-conformance/model'
import { describe, it } from 'vitest'
import { createMockModelSubject, mockOffers } from './mock-model-subject.ts'
import { startWireServer, type WireServer } from './wire/wire-server.ts'
import {
  createWireSubject,
  providerNames,
  providers,
  type WireSubject,
} from './wire/wire-subjects.ts'

const runner = { it, fails: it.fails }

describe('over the mock model of the AI SDK', () => {
  defineConformance(runner, modelBehaviours, {
    create: async () => createMockModelSubject(),
    offers: mockOffers,
  })
})

describe.each(providerNames)('over HTTP, %s', (name) => {
  const servers = new WeakMap<WireSubject, WireServer>()
  defineConformance(runner, modelBehaviours, {
    create: async () => {
      let server: WireServer | undefined
      const subject = await createWireSubject(
        name,
        async (wire) => (server = await startWireServer(wire)),
      )
      if (server !== undefined) servers.set(subject, server)
      return subject
    },
    dispose: async (subject) => servers.get(subject as WireSubject)?.close(),
    offers: providers[name].offers,
  })
})
