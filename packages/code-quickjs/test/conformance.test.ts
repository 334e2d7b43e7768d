// The behaviours of code, in Node: each run and each context has a thread.
import { quickJsCode } from '@helix-agents/code-quickjs'
import {
  defineConformance,
  ProviderSubject,
  workspaceBehaviours,
} from '@helix-agents/workspace-conformance'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { it } from 'vitest'

const code = quickJsCode()
const ofCode = workspaceBehaviours.filter(({ needs }) => needs?.includes('code'))

defineConformance({ it, fails: it.fails }, ofCode, {
  offers: ['fs', 'code', 'stateful-code'],
  create: async () => {
    const harness = {
      provider: new InMemoryWorkspaceProvider({ code }),
      config: { kind: 'in-memory' },
    }
    return new ProviderSubject(harness, harness.provider.capabilities, ['stateful-code'])
  },
  dispose: (subject) => subject.dispose(),
})
