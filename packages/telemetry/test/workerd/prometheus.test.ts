import { expect, test } from 'vitest'
import { parseExposition } from '../metrics/parse-exposition.ts'
import worker from './worker.ts'

test('a Worker is scraped', async () => {
  const response = await worker.fetch(new Request('https://example.com/metrics'))
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
  const { samples } = parseExposition(await response.text())
  expect(samples).toContainEqual({
    name: 'helix_workspace_opens_total',
    labels: { workspace: 'box', provider: 'in-memory', outcome: 'created' },
    value: 1,
  })
})
