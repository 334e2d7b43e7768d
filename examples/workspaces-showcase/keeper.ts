// The Durable Object in which the session of the third act ends.
import { MockLLMAdapter } from '@helix-agents/core'
import { createAgentServer, type EndpointContext } from '@helix-agents/runtime-cloudflare'
import type { BranchSeed } from '@helix-agents/runtime-js'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { importTar } from '@helix-agents/snapshot-archive'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { readBundledPackage } from './bundled-package.ts'
import { createCareless } from './careless.ts'

const careless = createCareless({ kind: 'cloudflare-filestore' }, readBundledPackage)

/** It looks at what has come, and changes nothing. */
const look = { command: 'grep -c "y / 12" ms/index.js && ls ms' }

export class Keeper extends createAgentServer({
  llmAdapter: () =>
    new MockLLMAdapter([
      {
        type: 'tool_calls',
        toolCalls: [{ id: 'look', name: 'workspace__box__run', arguments: look }],
      },
      { type: 'text', content: 'It is all here.', shouldStop: true },
    ]),
  agents: [careless],
  workspaceProviders: (_, { storage }) => [
    new CloudflareFileStoreWorkspaceProvider({ storage, shell: justBashShell() }),
  ],
  endpoints: { '/import': bringIn },
}) {}

/** Makes the session from a conversation and a tar archive of its files. */
async function bringIn(
  request: Request,
  { executor, sessionId }: EndpointContext<unknown>,
): Promise<Response> {
  const form = await request.formData()
  const [seed, box] = [form.get('seed'), form.get('box')]
  if (typeof seed !== 'string' || !(box instanceof Blob)) {
    return new Response('seed and box are missing', { status: 400 })
  }
  const source = { store: new InMemorySnapshotStore(), scope: sessionId }
  const identity = {
    sessionId,
    agentType: careless.name,
    workspace: 'box',
    workspaceId: 'box',
    providerId: 'local-bash',
    createdAt: Date.now(),
  }
  const manifest = await importTar(box.stream(), source, { identity })
  const report = await executor.importSession(careless, {
    sessionId,
    seed: JSON.parse(seed) as BranchSeed,
    files: { box: { ...source, manifest } },
  })
  return Response.json(report['box'])
}
