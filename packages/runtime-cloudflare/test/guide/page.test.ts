import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import page from '../../../../docs/guide/cloudflare.md?raw'
import code from './worker.ts?raw'
import worker from './worker.ts'

test('the page of the docs shows a Worker that compiles', () => {
  expect(page).toContain(`\n${code}\`\`\`\n`)
})

test.each([
  ['token', 'Bearer token', 404],
  ['token', 'Bearer Token', 401],
  ['token', 'Bearer ', 401],
  ['', 'Bearer ', 401],
  [undefined, 'Bearer undefined', 401],
])('with the secret %s it answers %s with %i', async (secret, authorization, status) => {
  const request = new Request('https://example.com/agents/researcher/none/state', {
    headers: { authorization },
  })
  const bindings = { AGENTS: env.AGENTS as never, API_TOKEN: secret as string }
  const response = await worker.fetch(request as never, bindings)
  expect(response.status).toBe(status)
})
