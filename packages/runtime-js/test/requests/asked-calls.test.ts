// What a person is asked about is in the journal: it is asked once, and it does not run twice.
import { defineTool } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  agentWith,
  calls,
  createHarness,
  gate,
  say,
  storedMessages,
  textOfResult,
} from '../harness.ts'

function fixture() {
  const ran: string[] = []
  const tool = (name: string, readOnly: boolean) =>
    defineTool({
      name,
      orderKey: name,
      description: '',
      inputSchema: z.object({}),
      annotations: { readOnly },
      needsApproval: true,
      execute: () => {
        ran.push(name)
        return `${name} is done`
      },
    })
  return { agent: agentWith(tool('peek', true), tool('mail', false)), ran }
}

test('a process that dies before it has asked has run nothing: the next one asks', async () => {
  const { agent, ran } = fixture()
  const store = new InMemoryStateStore()
  const addRequests = store.addRequests.bind(store)
  let isDead = false
  const asking = gate()
  store.addRequests = (requests) => {
    if (isDead) return addRequests(requests)
    isDead = true
    asking.open()
    return new Promise(() => {})
  }
  const harness = createHarness([calls(['mail'])], { store })
  await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  await asking.opened
  const { executor } = harness.next([], { clock: new ManualClock(Date.now() + 3_600_000) })
  const result = await (await executor.resume(agent, 's')).result()
  expect(result.status).toBe('waiting')
  expect((await executor.listRequests({ sessionId: 's', state: 'open' })).items).toHaveLength(1)
  expect(ran).toEqual([])
})

test('a read that was approved keeps its result while another call waits', async () => {
  const { agent, ran } = fixture()
  const harness = createHarness([calls(['peek'], ['mail'])])
  const first = await harness.executor.execute(agent, 'Go', { sessionId: 's' })
  const result = await first.result()
  if (result.status !== 'waiting') throw new Error(`it is ${result.status}`)
  const idOf = (tool: string): string =>
    result.requests.find(({ toolName }) => toolName === tool)!.requestId
  const approve = { decision: 'approve' } as const
  const one = await harness.executor.respond(agent, 's', idOf('peek'), approve)
  expect((await one.handle?.result())?.status).toBe('waiting')
  expect(ran).toEqual(['peek'])
  const { executor } = harness.next([say('done')])
  const two = await executor.respond(agent, 's', idOf('mail'), approve)
  expect(await two.handle?.result()).toMatchObject({ status: 'completed', output: 'done' })
  expect(ran).toEqual(['peek', 'mail'])
  const results = (await storedMessages(harness)).filter(({ role }) => role === 'tool')
  expect(results.map(textOfResult)).toEqual(['peek is done', 'mail is done'])
})
