import { equal, match } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SandboxTestbed } from '@helix-agents/sandbox-testbed'
import { AgentClient } from '../client/agent-client.ts'
import { findEngine, openWorker } from '../local/open-worker.ts'

const engine = await findEngine().catch((error: Error) => error)
const skip = engine instanceof Error ? engine.message : false

// The Worker in workerd, with its containers.
describe('the Worker', { skip }, () => {
  let worker: SandboxTestbed
  before(async () => {
    if (!(engine instanceof Error)) {
      worker = await openWorker({ engine, variables: { API_TOKEN: 'test' } })
    }
  })
  after(() => worker?.stop())

  const request = (path: string, init: RequestInit) => fetch(new URL(path, worker.url), init)

  async function say(session: string, message: string): Promise<string> {
    const client = new AgentClient({ request, token: 'test', session })
    let text = ''
    for await (const piece of client.say(message)) text += piece
    return text
  }

  test('a session keeps its files from turn to turn, and another has its own', async () => {
    match(await say('one', 'Buy oranges'), /· box__run\n.*Notes so far: 1\./s)
    match(await say('one', 'Call Ada on Friday'), /Notes so far: 2\./)
    match(await say('two', 'Water the plants'), /Notes so far: 1\./)
  })

  test('a request without the token is rejected', async () => {
    for (const authorization of ['', 'Bearer undefined', 'Bearer wrong', 'Bearer tesT']) {
      const url = new URL('/agents/assistant/one/state', worker.url)
      equal((await fetch(url, { headers: { authorization } })).status, 401)
    }
  })
})
