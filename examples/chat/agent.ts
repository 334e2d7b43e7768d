import { defineAgent } from '@helix-agents/core'

/** @param model What the adapter in use expects. */
export const createNoteTaker = (model: unknown) =>
  defineAgent({
    name: 'note-taker',
    systemPrompt: 'Keep what the user tells you as files below /notes. Answer in one sentence.',
    llmConfig: { model },
    // A new note is harmless. A note that is there may be all that somebody has of it.
    permissions: [{ decision: 'ask', tool: 'edit_file' }],
    workspaces: {
      notes: { provider: { kind: 'local-bash' }, capabilities: { fs: true } },
    },
  })
