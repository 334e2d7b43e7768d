import { type Agent, defineAgent, type ProviderSelection } from '@helix-agents/core'
import { checkoutPackageTool } from './checkout-package.ts'

/**
 * The one agent of this example. Where its workspace lives is a parameter; what it may do there
 * follows from what that place offers.
 */
export function createMaintainer(provider: ProviderSelection, hasShell: boolean): Agent {
  return defineAgent({
    name: 'maintainer',
    description: 'Changes small npm packages and proves the change.',
    systemPrompt: 'You maintain npm packages. Work in the workspace `box`, in small steps.',
    llmConfig: { model: 'scripted' },
    tools: [checkoutPackageTool],
    workspaces: {
      box: { provider, capabilities: { fs: true, shell: hasShell } },
    },
  })
}
