import { defineAgent, MockLLMAdapter, type MockStep } from '@helix-agents/core'
import { portableSnapshots } from '@helix-agents/core/provider'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import {
  InMemorySnapshotStore,
  InMemoryStateStore,
  InMemoryStreamManager,
} from '@helix-agents/store-memory'
import type { CloudflareSandboxWorkspaceProvider } from '@helix-agents/workspace-cloudflare-sandbox'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'

/** What a session has read in each of its places, and where it was. */
export interface Journey {
  /** In the sandbox, after it moved there. */
  readonly moved: string
  /** After it went back one step, with its files. */
  readonly wentBack: string
  /** In memory, after it moved out. */
  readonly movedOut: string
  readonly changes: readonly string[]
  readonly sandboxes: readonly string[]
}

const memory = { kind: 'in-memory' } as const
const call = (tool: string, given: object): MockStep => ({
  type: 'tool_calls',
  toolCalls: [{ id: tool, name: `workspace__box__${tool}`, arguments: given }],
})
const write = (content: string) => call('write_file', { path: '/d/a', content })
const read = call('read_file', { path: '/d/a' })
const end: MockStep = { type: 'text', content: 'Done.', shouldStop: true }
const sessionId = 's'

/** A session begins in memory, moves into a sandbox, goes back a step there, and moves out again. */
export async function travel(
  sandboxes: CloudflareSandboxWorkspaceProvider,
  way: 'portable' | 'backups',
): Promise<Journey> {
  const to = {
    kind: 'cloudflare-sandbox',
    ...(way === 'backups' && { backupR2Binding: 'BACKUP_BUCKET' }),
  }
  const sandbox =
    way === 'backups'
      ? sandboxes
      : portableSnapshots(sandboxes, { store: new InMemorySnapshotStore() })
  const agent = defineAgent({
    name: 'a',
    llmConfig: { model: {} },
    workspaces: { box: { provider: memory, capabilities: { fs: true }, history: 'step' } },
  })
  const [store, streams] = [new InMemoryStateStore(), new InMemoryStreamManager()]
  const workspaceProviders = [new InMemoryWorkspaceProvider(), sandbox]
  const executorOf = (...steps: MockStep[]) =>
    new JSAgentExecutor(store, streams, new MockLLMAdapter(steps), { workspaceProviders })
  const run = async (...steps: MockStep[]): Promise<string> => {
    const options = { sessionId, keepWorkspaces: true }
    await (await executorOf(...steps, end).execute(agent, 'go', options)).result()
    const { messages } = await store.loadMessages(sessionId)
    return JSON.stringify(messages.findLast(({ role }) => role === 'tool')?.content)
  }
  const places: string[] = []
  const notePlace = async (): Promise<void> => {
    const { box } = (await store.loadSession(sessionId))?.workspaceRefs ?? {}
    const { sandbox: id } = { sandbox: '', ...(box?.ref as { readonly sandbox?: string }) }
    places.push(id)
  }
  await run(write('one'))
  await executorOf().moveWorkspace(agent, sessionId, 'box', { to })
  await notePlace()
  const moved = await run(read)
  await run(write('two'), write('three'))
  // The newest: `three` and the end of the run.
  const from = (await store.listCheckpoints(sessionId)).items[2]?.id ?? ''
  const diffs = await executorOf().diff(agent, sessionId, { from })
  await executorOf().restoreCheckpoint(agent, sessionId, from, { files: true })
  await notePlace()
  const wentBack = await run(read)
  await executorOf().moveWorkspace(agent, sessionId, 'box', { to: memory })
  const movedOut = await run(read)
  await executorOf().deleteSession(agent, sessionId)
  const changes = diffs.flatMap(({ changes: all }) => all.map(({ path }) => path))
  return { moved, wentBack, movedOut, changes, sandboxes: places }
}
