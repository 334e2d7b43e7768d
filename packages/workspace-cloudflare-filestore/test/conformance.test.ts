// The whole kit, inside workerd, without a bucket and with a threshold so small that nearly every
// file of the kit goes to the bucket; a sample of it with a bucket that few of them reach.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { TestSampler } from '@helix-agents/core/testing'
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

const sampler = new TestSampler()
const SAMPLED = 'with a bucket'

/** Each behaviour runs inside an object of its own, where its database can be used. */
const behaviours = (of: typeof workspaceBehaviours, setup: ProviderSetup) =>
  of.map((behaviour) => ({
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
        const subject = new ProviderSubject(harness, { fs: true, snapshot: true, branch: true })
        try {
          await behaviour.run(subject)
        } finally {
          await subject.dispose()
        }
      }),
  }))

const create = async (): Promise<DurableObjectStub> => env.FILES.get(env.FILES.newUniqueId())

describe.each(Object.entries(setups))('%s', (name, setup) => {
  const count = workspaceBehaviours.length
  const wanted =
    name === SAMPLED ? sampler.pick(name, workspaceBehaviours, count / 8) : workspaceBehaviours
  defineConformance({ it, fails: it.fails }, behaviours(wanted, setup), {
    create,
    offers: ['fs', 'snapshot', 'branch'],
  })
})
