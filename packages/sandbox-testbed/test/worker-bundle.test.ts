import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bundleWorker } from '../src/worker/worker-bundle.ts'

test('imports of a script resolve from `resolveDirectory`', async () => {
  const base = mkdtempSync(join(tmpdir(), 'helix-test-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  for (const name of ['one', 'two']) {
    mkdirSync(join(base, name))
    writeFileSync(join(base, name, 'text.ts'), `export const text = 'text of ${name}'`)
  }
  const script =
    "import { text } from './text.ts'; export default { fetch: () => new Response(text) }"
  const worker = { script, durableObjects: {} }
  const code = await bundleWorker({ ...worker, resolveDirectory: join(base, 'two') })
  expect(code).toContain('text of two')
  const elsewhere = bundleWorker({ ...worker, resolveDirectory: base })
  await expect(elsewhere).rejects.toMatchObject({ code: 'worker-build-failed' })
})
