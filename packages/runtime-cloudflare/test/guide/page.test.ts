import { expect, test } from 'vitest'
import page from '../../../../docs/guide/cloudflare.md?raw'
import code from './worker.ts?raw'

test('the page of the docs shows a Worker that compiles', () => {
  expect(page).toContain(`\n${code}\`\`\`\n`)
})
