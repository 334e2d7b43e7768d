// The behaviours of code inside workerd, over the files of a Durable Object.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { quickJsCode } from '@helix-agents/code-quickjs'
import {
  defineConformance,
  ProviderSubject,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { it } from 'vitest'

const code = quickJsCode()

/** Each behaviour runs inside an object of its own, where its database can be used. */
const behaviours = workspaceBehaviours
  .filter(({ needs }) => needs?.includes('code'))
  .map((behaviour) => ({
    ...behaviour,
    run: (stub: DurableObjectStub) =>
      runInDurableObject(stub, async (_, { storage }) => {
        const provider = new CloudflareFileStoreWorkspaceProvider({ storage, code })
        const harness = { provider, config: { kind: 'cloudflare-filestore' } }
        const subject = new ProviderSubject(harness, provider.capabilities, ['stateful-code'])
        try {
          await behaviour.run(subject)
        } finally {
          await subject.dispose()
        }
      }),
  }))

defineConformance({ it, fails: it.fails }, behaviours, {
  offers: ['fs', 'code', 'stateful-code'],
  create: async () => env.FILES.get(env.FILES.newUniqueId()),
})
