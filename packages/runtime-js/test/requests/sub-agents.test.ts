// Sub-agents ask through their root; what ends a session withdraws its requests.
import {
  createSubAgentTool,
  defineAgent,
  defineTool,
  type StepInput,
  type Tool,
} from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { calls, chunksOf, createHarness, say } from '../harness.ts'

function define(name: string, tool: Tool) {
  return defineAgent({ name, llmConfig: { model: { name } }, tools: [tool] })
}

/** An agent with an agent with an agent that sends mails. */
function nested() {
  const sent: string[] = []
  const mail = defineTool({
    name: 'mail',
    description: 'Sends a mail.',
    inputSchema: z.object({ to: z.string() }),
    needsApproval: true,
    execute: ({ to }) => {
      sent.push(to)
      return 'sent'
    },
  })
  const leaf = define('leaf', mail)
  const middle = define('middle', createSubAgentTool(leaf, z.object({})))
  const root = define('root', createSubAgentTool(middle, z.object({})))
  const firstCalls: Readonly<Record<string, ReturnType<typeof calls>>> = {
    root: calls(['subagent__middle']),
    middle: calls(['subagent__leaf']),
    leaf: calls(['mail', { to: 'ada' }]),
  }
  const adapter = {
    generateStep: async ({ config, messages }: StepInput) => {
      const { name } = config.model as { name: string }
      const isNew = !messages.some(({ role }) => role === 'assistant')
      return isNew ? (firstCalls[name] ?? say('?')) : say(`${name} done`)
    },
  }
  return { sent, root, harness: createHarness([], { adapter }) }
}

async function waiting({ root, harness }: ReturnType<typeof nested>) {
  const handle = await harness.executor.execute(root, 'Go', { sessionId: 's' })
  const result = await handle.result()
  const [request] = result.status === 'waiting' ? result.requests : []
  if (request === undefined) throw new Error(`the run is ${result.status}`)
  return { handle, request }
}

describe('a sub-agent two deep', () => {
  test('asks through its root, and goes on with the answer in another process', async () => {
    const parts = nested()
    const { handle, request } = await waiting(parts)
    expect(request).toMatchObject({
      sessionId: 's',
      askingSessionId: 's/s1-0/s1-0',
      agentPath: ['root', 'middle', 'leaf'],
    })
    const types = (await chunksOf(handle)).map(({ type }) => type)
    expect(types).toContain('approval_request')
    expect(types).not.toContain('subagent_end')
    const other = parts.harness.next([])
    const given = { decision: 'approve' } as const
    const next = await other.executor.respond(parts.root, 's', request.requestId, given)
    expect(await next.handle?.result()).toMatchObject({ output: 'root done' })
    expect(parts.sent).toEqual(['ada'])
  })

  test('is not answered under another session', async () => {
    const parts = nested()
    const { request } = await waiting(parts)
    const { executor } = parts.harness
    for (const sessionId of ['t', 's/s1-0', request.askingSessionId]) {
      await expect(
        executor.respond(parts.root, sessionId, request.requestId, { decision: 'approve' }),
      ).rejects.toMatchObject({ code: 'unknown-request' })
    }
  })
})

describe('a session that waits', () => {
  test('is ended by abort, and its requests with it', async () => {
    const parts = nested()
    const { request } = await waiting(parts)
    const other = parts.harness.next([])
    await (await other.executor.getHandle(parts.root, 's'))?.abort()
    const { items } = await other.executor.listRequests({ sessionId: 's' })
    expect(items.map(({ resolution }) => resolution?.decision)).toEqual(['cancelled'])
    await expect(
      other.executor.respond(parts.root, 's', request.requestId, { decision: 'approve' }),
    ).rejects.toMatchObject({ code: 'already-decided' })
    expect(parts.sent).toEqual([])
  })

  test('is gone when it is deleted: an answer finds nothing', async () => {
    const parts = nested()
    const { request } = await waiting(parts)
    const { executor } = parts.harness
    await executor.deleteSession(parts.root, 's')
    await expect(
      executor.respond(parts.root, 's', request.requestId, { decision: 'approve' }),
    ).rejects.toMatchObject({ code: 'unknown-request' })
    expect(await executor.listRequests()).toEqual({ items: [] })
  })
})
