import { defineAgent, defineTool } from '@helix-agents/core'
import * as z from 'zod'

/** A tool of your own: the model reads the description and calls it. */
const countWords = defineTool({
  name: 'count_words',
  description: 'Counts the words of a text.',
  inputSchema: z.strictObject({ text: z.string() }),
  annotations: { readOnly: true },
  execute: ({ text }) => text.split(/\s+/).filter((word) => word !== '').length,
})

/** @param model A model of the AI SDK; a script needs none. */
export const createAgent = (model: unknown) =>
  defineAgent({
    name: 'assistant',
    systemPrompt: 'Keep what the user tells you as files below /notes. Answer in one sentence.',
    llmConfig: { model },
    tools: [countWords],
    workspaces: {
      notes: { provider: { kind: 'cloudflare-filestore' }, capabilities: { fs: true } },
    },
  })
