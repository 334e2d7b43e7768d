// The behaviours of commands inside workerd, over the files of a Durable Object.
import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { justBashShell } from '@helix-agents/shell-just-bash'
import {
  defineConformance,
  ProviderSubject,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { it } from 'vitest'

const shell = justBashShell()

/** Each behaviour runs inside an object of its own, where its database can be used. */
const behaviours = workspaceBehaviours
  .filter(({ needs }) => needs?.includes('shell'))
  .map((behaviour) => ({
    ...behaviour,
    run: (stub: DurableObjectStub) =>
      runInDurableObject(stub, async (_, { storage }) => {
        const provider = new CloudflareFileStoreWorkspaceProvider({ storage, shell })
        const harness = {
          provider,
          config: { kind: 'cloudflare-filestore' },
          secrets: [env.HELIX_TEST_API_KEY],
        }
        const subject = new ProviderSubject(harness, provider.capabilities)
        try {
          await behaviour.run(subject)
        } finally {
          await subject.dispose()
        }
      }),
  }))

defineConformance({ it, fails: it.fails }, behaviours, {
  offers: ['fs', 'shell'],
  create: async () => env.FILES.get(env.FILES.newUniqueId()),
})
