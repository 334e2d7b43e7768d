// The whole kit, inside workerd, in three shapes: without a bucket, with one, and with a threshold
// so small that nearly every file of the kit goes to the bucket.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import {
  defineConformance,
  ProviderSubject,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { describe, it } from 'vitest'
import { closeElsewhere, createProvider, type ProviderSetup } from './provider-harness.ts'

const setups: Readonly<Record<string, ProviderSetup>> = {
  'without a bucket': {},
  'with a bucket': { r2: env.BUCKET },
  'with nearly everything in the bucket': { r2: env.BUCKET, inlineThresholdBytes: 3 },
}

/** Each behaviour runs inside an object of its own, where its database can be used. */
const behaviours = (setup: ProviderSetup) =>
  workspaceBehaviours.map((behaviour) => ({
    ...behaviour,
    run: (stub: DurableObjectStub) =>
      runInDurableObject(stub, async (_, { storage }) => {
        const provider = createProvider(storage, setup)
        const harness = {
          provider,
          config: { kind: 'cloudflare-filestore' },
          restart: async () => createProvider(storage, setup),
          evict: closeElsewhere(storage, setup),
        }
        const subject = new ProviderSubject(harness, { fs: true })
        try {
          await behaviour.run(subject)
        } finally {
          await subject.dispose()
        }
      }),
  }))

const create = async (): Promise<DurableObjectStub> => env.FILES.get(env.FILES.newUniqueId())

describe.each(Object.entries(setups))('%s', (_, setup) => {
  defineConformance({ it, fails: it.fails }, behaviours(setup), { create, offers: ['fs'] })
})
