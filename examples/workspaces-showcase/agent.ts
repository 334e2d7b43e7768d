import { type Agent, defineAgent, type LLMConfig, type ProviderSelection } from '@helix-agents/core'
import { createCheckoutTool, type ReadPackage } from './checkout-package.ts'

/** What the user says. A real model needs to know what is meant; the scripted one knows already. */
export const task =
  'Teach the npm package `ms` about months. Check it out with your tool first. "2 months" and "2mo" ' +
  'are to be parsed, and times from a month on are to be written in months, in the long form and ' +
  'in the short one ("2 months", "2mo"). A month is a twelfth of the year of the package. Change ' +
  'only what that needs. Test it: with `node` in a shell that has it, else with `run_code`.'

/** What the place brings along, where the agent lives. */
export interface MaintainerParts {
  readonly provider: ProviderSelection
  /** Default: there are none. */
  readonly hasSnapshots?: boolean
  readonly readPackage: ReadPackage
  /** What the adapter in use expects. */
  readonly model: LLMConfig['model']
}

/**
 * The one agent of this example. Where its workspace lives is a parameter; what it may do there
 * follows from what that place offers.
 */
export function createMaintainer(parts: MaintainerParts): Agent {
  const { provider, hasSnapshots = false, readPackage, model } = parts
  return defineAgent({
    name: 'maintainer',
    description: 'Changes small npm packages and proves the change.',
    systemPrompt: 'You maintain npm packages. Work in the workspace `box`, in small steps.',
    llmConfig: { model },
    tools: [createCheckoutTool(readPackage)],
    // Whatever it does in its box is its own affair. What leaves the box is asked about.
    permissions: [{ decision: 'ask', command: 'npm publish *' }],
    workspaces: {
      box: {
        provider,
        capabilities: { fs: true, shell: true, code: true, snapshot: hasSnapshots },
      },
    },
  })
}
