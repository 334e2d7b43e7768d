import { defineAgent, defineTool } from '@helix-agents/sdk'
import * as z from 'zod'

/** A tool of your own: the model reads the description and calls it. */
const countWords = defineTool({
  name: 'count_words',
  description: 'Counts the words of a text.',
  inputSchema: z.strictObject({ text: z.string() }),
  annotations: { readOnly: true },
  execute: ({ text }) => text.split(/\s+/).filter((word) => word !== '').length,
})

const systemPrompt = `You are an assistant in a terminal. You have a folder of your own: read and write its
files, run commands in it, and keep in /notes what the user will need again. Answer in a few sentences.`

/** @param model A model of the AI SDK; a script needs none. */
export const createAgent = (model: unknown) =>
  defineAgent({
    name: 'assistant',
    systemPrompt,
    llmConfig: { model },
    tools: [countWords],
    workspaces: {
      files: { provider: { kind: 'local-bash' }, capabilities: { fs: true, shell: true } },
    },
  })
