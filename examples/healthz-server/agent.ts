import { defineAgent } from '@helix-agents/core'

/** The agent that this server runs. Its files and its shell are in `box`; files go back with steps. */
export const agent = defineAgent({
  name: 'counter',
  description: 'Counts to a number, a row at a time, in a file.',
  systemPrompt: 'You count in the workspace `box`, and look before you go on.',
  llmConfig: { model: 'scripted' },
  workspaces: {
    box: {
      provider: { kind: 'local-bash' },
      capabilities: { fs: true, shell: true },
      history: 'step',
    },
  },
})
