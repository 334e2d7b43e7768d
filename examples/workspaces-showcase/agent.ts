import { type Agent, defineAgent, type ProviderSelection } from '@helix-agents/core'
import { createCheckoutTool, type ReadPackage } from './checkout-package.ts'

/** What the place brings along, where the agent lives. */
export interface MaintainerParts {
  readonly provider: ProviderSelection
  readonly hasShell: boolean
  readonly readPackage: ReadPackage
}

/**
 * The one agent of this example. Where its workspace lives is a parameter; what it may do there
 * follows from what that place offers.
 */
export function createMaintainer({ provider, hasShell, readPackage }: MaintainerParts): Agent {
  return defineAgent({
    name: 'maintainer',
    description: 'Changes small npm packages and proves the change.',
    systemPrompt: 'You maintain npm packages. Work in the workspace `box`, in small steps.',
    llmConfig: { model: 'scripted' },
    tools: [createCheckoutTool(readPackage)],
    workspaces: {
      box: { provider, capabilities: { fs: true, shell: hasShell } },
    },
  })
}
