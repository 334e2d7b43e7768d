// Sessions in Durable Objects whose files are large, for what a branch between two objects takes.
import { defineAgent, defineTool } from '@helix-agents/core'
import {
  createAgentServer,
  insecureAllowAnyone,
  routeAgentRequest,
} from '@helix-agents/runtime-cloudflare'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'

const MB = 1024 * 1024
const FILE_BYTES = 4 * MB
const RANDOM_BYTES = 64 * 1024

/** Files of bytes that no other file has. */
const fill = defineTool({
  name: 'fill',
  description: 'Writes files.',
  inputSchema: { type: 'object' },
  execute: ({ megabytes }, { workspaces }) =>
    workspaces.use('box', async ({ live: { fs } }) => {
      const bytes = new Uint8Array(FILE_BYTES)
      for (let n = 0; n < (megabytes * MB) / FILE_BYTES; n += 1) {
        for (let at = 0; at < FILE_BYTES; at += RANDOM_BYTES)
          crypto.getRandomValues(bytes.subarray(at, at + RANDOM_BYTES))
        await fs.writeFile(`/file-${n}`, bytes)
      }
      return 'filled'
    }),
})

const agent = defineAgent({
  name: 'a',
  llmConfig: { model: 'scripted' },
  tools: [fill],
  workspaces: {
    box: {
      provider: { kind: 'cloudflare-filestore' },
      capabilities: { fs: true },
      history: 'step',
    },
  },
})

/** Answers a message, which is the arguments of the tool. */
async function generateStep({ messages }) {
  const { role, content } = messages.at(-1)
  if (role !== 'user') return { type: 'text', content: 'done', shouldStop: true }
  const call = { id: 'a', name: 'fill', arguments: JSON.parse(content) }
  return { type: 'tool_calls', toolCalls: [call] }
}

export class Session extends createAgentServer({
  llmAdapter: () => ({ generateStep }),
  agents: [agent],
  workspaceProviders: (_, { storage }) => [new CloudflareFileStoreWorkspaceProvider({ storage })],
}) {}

const worker = {
  fetch: async (request, env) => {
    const options = { binding: 'SESSIONS', authenticate: insecureAllowAnyone }
    return (await routeAgentRequest(request, env, options)) ?? new Response(null, { status: 404 })
  },
}

// oxlint-disable-next-line import/no-default-export -- a Worker is its default export
export { worker as default }
