import { equal, match } from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestHarness } from 'wrangler'
import { AgentClient } from '../client/agent-client.ts'

// Nothing is looked up in the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'

// The Worker in workerd, as `npm start` runs it.
const server = createTestHarness({
  root: join(import.meta.dirname, '..'),
  workers: [{ configPath: 'wrangler.jsonc', secrets: { API_TOKEN: 'test' }, vars: { MODEL: '' } }],
})
const request = (path: string, init: object) => server.fetch(path, init)

before(() => server.listen())
after(() => server.close())

async function say(session: string, message: string): Promise<string> {
  const client = new AgentClient({ request, token: 'test', session })
  let text = ''
  for await (const piece of client.say(message)) text += piece
  return text
}

test('a session keeps its files from turn to turn, and another has its own', async () => {
  match(await say('one', 'Buy oranges'), /· notes__write_file\n.*Notes so far: 1\./s)
  match(await say('one', 'Call Ada on Friday'), /Notes so far: 2\./)
  match(await say('two', 'Water the plants'), /Notes so far: 1\./)
})

test('a request without the token is rejected', async () => {
  for (const authorization of ['', 'Bearer undefined', 'Bearer wrong', 'Bearer tesT']) {
    const response = await request('/agents/assistant/one/state', { headers: { authorization } })
    equal(response.status, 401)
  }
})

test('another path is not found', async () => {
  equal((await request('/nowhere', {})).status, 404)
})
