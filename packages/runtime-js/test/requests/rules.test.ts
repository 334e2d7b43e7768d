// Permission rules of an agent: allow, ask, deny, and what a person may change.
import { defineAgent, noopLogger, type PermissionRule, systemClock } from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import type { AgentHandle } from '@helix-agents/runtime-js'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import {
  calls,
  chunksOf,
  createHarness,
  say,
  settle,
  storedMessages,
  textOfResult,
} from '../harness.ts'

const WRITE = 'workspace__box__write_file'
const READ = 'workspace__box__read_file'

function boxAgent(permissions: readonly PermissionRule[]) {
  return defineAgent({
    name: 'worker',
    llmConfig: { model: {} },
    permissions,
    workspaces: { box: { provider: { kind: 'in-memory' }, capabilities: { fs: true } } },
  })
}

function write(path: string) {
  return calls([WRITE, { path, content: 'x' }])
}

/** The only request of a run that waits. */
async function onlyRequest(handle: AgentHandle | undefined): Promise<SessionRequest> {
  const result = await handle?.result()
  const [request] = result?.status === 'waiting' ? result.requests : []
  if (request === undefined) throw new Error(`the run is ${result?.status}`)
  return request
}

function boxHarness(steps: Parameters<typeof createHarness>[0]) {
  return createHarness(steps, { workspaceProviders: [new InMemoryWorkspaceProvider()] })
}

test('a rule denies a call, saying which one', async () => {
  const agent = boxAgent([{ decision: 'deny', tool: 'write_file', path: '/etc/**' }])
  const harness = boxHarness([
    calls([WRITE, { path: '/etc/a', content: 'x' }], [WRITE, { path: '/b', content: 'x' }]),
    say('done'),
  ])
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  expect(await handle.result()).toMatchObject({ status: 'completed' })
  const [, , denied, done] = await storedMessages(harness)
  expect(textOfResult(denied)).toMatch(/\[denied\].*deny: path "\/etc\/\*\*", tool write_file/)
  expect(done).not.toHaveProperty('isError')
})

test('a rule asks; reads go on, and what stands behind the call waits', async () => {
  const agent = boxAgent([{ decision: 'ask', tool: 'write_file', path: '/a' }])
  const harness = boxHarness([
    calls(
      [WRITE, { path: '/a', content: 'one' }],
      [WRITE, { path: '/b', content: 'two' }],
      [READ, { path: '/a' }],
    ),
    say('done'),
  ])
  const handle = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  const result = await handle.result()
  if (result.status !== 'waiting') throw new Error(result.status)
  expect(result.requests.map(({ toolCallId }) => toolCallId)).toEqual(['a'])
  const [request] = result.requests
  expect(request?.preview.format).toBe('diff')
  expect(request?.preview.body).toContain('+one')
  const { handle: next } = await harness.executor.respond(agent, 's', request!.requestId, {
    decision: 'approve',
  })
  expect(await next?.result()).toMatchObject({ status: 'completed' })
  const results = (await storedMessages(harness)).filter(({ role }) => role === 'tool')
  expect(results.map((message) => 'isError' in message)).toEqual([false, false, false])
  expect(textOfResult(results[2])).toContain('one')
})

test('an approval is void when the file has changed: it is asked again, saying so', async () => {
  const agent = boxAgent([{ decision: 'ask', path: '/a' }])
  const provider = new InMemoryWorkspaceProvider()
  const steps = [
    calls([WRITE, { path: '/b', content: '' }]),
    calls([WRITE, { path: '/a', content: 'new' }]),
    say('done'),
  ]
  const [store, told] = [new InMemoryStateStore(), [] as unknown[]]
  const replaceRequest = store.replaceRequest.bind(store)
  store.replaceRequest = async (replaced) => {
    await settle()
    told.push('stored')
    return replaceRequest(replaced)
  }
  const onRequest = () => void told.push('told')
  const options = { workspaceProviders: [provider], store, onRequest }
  const harness = createHarness(steps, options)
  const first = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  const old = await onlyRequest(first)
  const ref = (await harness.store.loadSession('s'))?.workspaceRefs['box']
  const { ws } = await provider.resolve(ref!, {
    capabilities: { fs: true },
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
    session: { sessionId: 's', agentType: 'worker' },
  } as never)
  await ws.fs?.writeFile('/a', new TextEncoder().encode('by someone else'))
  const again = await harness.executor.respond(agent, 's', old.requestId, { decision: 'approve' })
  const request = await onlyRequest(again.handle)
  expect(request.requestId).not.toBe(old.requestId)
  expect(request.preview.title).toContain('Asked again')
  expect(request.preview.body).toContain('-by someone else')
  expect((await harness.store.loadSession('s'))?.status).toBe('waiting')
  expect(told).toEqual(['told', 'stored', 'told'])
  const chunks = (await chunksOf(again.handle!)).filter(({ type }) => type === 'approval_request')
  const { basis: _, ...preview } = request.preview
  const { requestId, kind, agentPath } = request
  const call = { toolCallId: 'a', toolName: WRITE, arguments: { path: '/a', content: 'new' } }
  expect(chunks.at(-1)).toMatchObject({ requestId, kind, agentPath, ...call })
  expect(chunks.at(-1)).toHaveProperty('preview', preview)
  expect(chunks.at(-1)).not.toHaveProperty('expiresAt')
  const last = await harness.executor.respond(agent, 's', request.requestId, {
    decision: 'approve',
  })
  expect(await last.handle?.result()).toMatchObject({ status: 'completed' })
})

test('an edited input is checked by the tool and by the rules, and shown to the model', async () => {
  const agent = boxAgent([
    { decision: 'ask', tool: 'write_file' },
    { decision: 'deny', path: '/etc/**' },
  ])
  const harness = boxHarness([calls([WRITE, { path: '/a', content: 'x' }]), say('done')])
  const first = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  const { requestId } = await onlyRequest(first)
  const edit = (input: unknown) =>
    harness.executor.respond(agent, 's', requestId, { decision: 'approve', input })
  await expect(edit({ path: '/a' })).rejects.toMatchObject({ code: 'invalid-answer' })
  await expect(edit({ path: '/a' })).rejects.toThrow('input.content')
  await expect(edit({ path: '/etc/passwd', content: '' })).rejects.toThrow('rules of this agent')
  const { handle } = await edit({ path: '/c', content: 'edited' })
  expect(await handle?.result()).toMatchObject({ status: 'completed' })
  const result = (await storedMessages(harness)).at(-2)
  expect(textOfResult(result)).toContain('The user edited the input')
  expect(textOfResult(result)).toContain('"path":"/c"')
})

test('what is remembered for the session is the same call, and no other', async () => {
  const agent = boxAgent([{ decision: 'ask', tool: 'write_file' }])
  const harness = boxHarness([write('/a'), write('/a'), write('/b'), say('done')])
  const first = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  const { requestId } = await onlyRequest(first)
  const { handle } = await harness.executor.respond(agent, 's', requestId, {
    decision: 'approve',
    remember: 'session',
  })
  expect((await onlyRequest(handle)).arguments).toBe('{"path":"/b","content":"x"}')
})
