import { defineAgent } from '@helix-agents/sdk'

/** @param model A model of the AI SDK; a script needs none. */
export const createAgent = (model: unknown) =>
  defineAgent({
    name: 'note-taker',
    systemPrompt: 'Keep what the user tells you as files below /notes. Answer in one sentence.',
    llmConfig: { model },
    // A new note is harmless. A note that is there may be the only copy: the user is asked.
    permissions: [{ decision: 'ask', tool: 'edit_file' }],
    workspaces: {
      notes: { provider: { kind: 'local-bash' }, capabilities: { fs: true } },
    },
  })
