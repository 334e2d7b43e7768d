import { type Agent, defineAgent, type ProviderSelection } from '@helix-agents/core'
import { createCheckoutTool, type ReadPackage } from './checkout-package.ts'

/** The agent of the third act: its files go back with its conversation, wherever it lives. */
export function createCareless(provider: ProviderSelection, readPackage: ReadPackage): Agent {
  return defineAgent({
    name: 'careless',
    llmConfig: { model: 'scripted' },
    tools: [createCheckoutTool(readPackage)],
    workspaces: {
      box: { provider, capabilities: { fs: true, shell: true }, history: 'step' },
    },
  })
}
