import { defineTool, type Tool } from '@helix-agents/core'
import * as z from 'zod'
import { type LibraryDocument, search } from './search.ts'

const DEFAULT_HITS = 4
const MAX_HITS = 10

/** How the agent finds documents. They are read-only: calls of one step run side by side. */
export function libraryTools(documents: readonly LibraryDocument[]): readonly Tool[] {
  return [searchTool(documents), readTool(documents)]
}

function searchTool(documents: readonly LibraryDocument[]): Tool {
  return defineTool({
    name: 'search_documents',
    description: 'Finds documents by words. Each hit has the id that read_document takes.',
    inputSchema: z.strictObject({
      query: z.string().min(1).max(200),
      limit: z.int().min(1).max(MAX_HITS).default(DEFAULT_HITS),
    }),
    annotations: { readOnly: true },
    execute: ({ query, limit }) => search(documents, query, limit),
    toModelOutput: (hits) =>
      hits.length === 0
        ? 'no document fits: try other words'
        : hits.map(({ id, title, sentence }) => `${id}: ${title}\n  ${sentence}`).join('\n'),
  })
}

function readTool(documents: readonly LibraryDocument[]): Tool {
  return defineTool({
    name: 'read_document',
    description: 'The whole text of a document, by its id.',
    inputSchema: z.strictObject({ id: z.string() }),
    annotations: { readOnly: true },
    execute: ({ id }) => {
      const found = documents.find((document) => document.id === id)
      if (found === undefined) throw new Error(`there is no document "${id}": search for it`)
      return found
    },
    toModelOutput: ({ text }) => text,
  })
}
