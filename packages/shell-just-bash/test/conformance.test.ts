import { justBashShell } from '@helix-agents/shell-just-bash'
import {
  defineConformance,
  ProviderSubject,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { afterAll, beforeAll, it } from 'vitest'

const SECRET = 'sk-planted-in-the-host'

beforeAll(() => void (process.env.HELIX_TEST_API_KEY = SECRET))
afterAll(() => void delete process.env.HELIX_TEST_API_KEY)

/** The files and the lifecycle are those of the provider, which has a suite of its own. */
const behaviours = workspaceBehaviours.filter(
  ({ id, needs = [] }) => needs.includes('shell') || id.startsWith('isolation/'),
)

defineConformance({ it, fails: it.fails }, behaviours, {
  offers: ['fs', 'shell'],
  create: async () => {
    const provider = new InMemoryWorkspaceProvider({ shell: justBashShell() })
    const harness = { provider, config: { kind: 'in-memory' }, secrets: [SECRET] }
    return new ProviderSubject(harness, provider.capabilities)
  },
  dispose: (subject) => subject.dispose(),
})
