// The clauses about files, lifecycle, refs and snapshots in a second, without a container: what
// fails here is in the provider, not in a driver.
import {
  defineConformance,
  ProviderSubject,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { CloudflareSandboxWorkspaceProvider } from '@helix-agents/workspace-cloudflare-sandbox'
import { describe, it } from 'vitest'
import { SandboxWorld } from './memory-world.ts'

const needsCommands = /^(shell|code)\//

const create = async (): Promise<ProviderSubject> => {
  const world = new SandboxWorld()
  const makeProvider = (): CloudflareSandboxWorkspaceProvider =>
    new CloudflareSandboxWorkspaceProvider({ driver: world.createDriver, localBuckets: true })
  const provider = makeProvider()
  const config = {
    kind: 'cloudflare-sandbox',
    destroyOnClose: true,
    backupR2Binding: 'BACKUP_BUCKET',
  } as const
  return new ProviderSubject(
    {
      provider,
      config,
      restart: async () => makeProvider(),
      evict: async (ref) => world.sleep((ref.ref as { sandbox: string }).sandbox),
      hostPaths: ['/workspace', 'hx-'],
      secrets: ['sk-planted'],
    },
    provider.capabilities,
    ['background', 'processes', 'stateful-code'],
  )
}

describe('on the double', () => {
  defineConformance(
    { it, fails: it.fails },
    workspaceBehaviours.filter(({ id }) => !needsCommands.test(id)),
    {
      create,
      dispose: (subject) => subject.dispose(),
      offers: ['fs', 'snapshot', 'branch'],
    },
  )
})
