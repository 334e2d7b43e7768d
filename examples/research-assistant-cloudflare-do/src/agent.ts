import { defineAgent } from '@helix-agents/core'
import { library } from './library.ts'
import { libraryTools } from './tools.ts'

const systemPrompt = `You research questions in a set of documents and write a report.

Search and read with search_documents and read_document. After each lead write a note to /findings in
the workspace \`notes\`: what you found, quoted with the id of its document, and what follows from it.
At the end read your notes again and write /report.md from them alone. Claim nothing without a quote;
count them with the shell.`

/** Keeps its notes in files that outlive every instance of its object. */
export const researchAssistant = defineAgent({
  name: 'research-assistant',
  description: 'Researches in a set of documents, keeps notes, writes a report.',
  systemPrompt,
  llmConfig: { model: 'scripted' },
  tools: libraryTools(library),
  workspaces: {
    notes: {
      provider: { kind: 'cloudflare-filestore' },
      // Text tools in the object itself: no process, no container, no network.
      capabilities: { fs: { maxFileSizeMb: 5 }, shell: true },
      // Notes that are gone must not silently begin anew.
      onLost: 'fail',
    },
  },
})
