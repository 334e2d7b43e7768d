import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { TestHost } from '../test-host.ts'

test.each([
  [[]],
  [['my-agent']],
  [['my-agent', '--template', 'worker', '--yes']],
  [['-t', 'worker', 'my-agent']],
  [['--help']],
  [['$(touch pwned)', '--json']],
])('hands %j to create-helix-agents, and ends as it does', async (args) => {
  const host = new TestHost()
  expect(await host.run(['init', ...args])).toEqual({ code: 1, out: '', err: '' })
  expect(host.created).toEqual([args])
})

test('the program says what is wrong under its own name', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'helix-init-'))
  const bin = join(import.meta.dirname, '../../src/bin.ts')
  const args = ['--conditions=@helix-agents/source', bin, 'init', 'a', '--nope']
  const run = promisify(execFile)(process.execPath, args, { cwd })
  await expect(run).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("helix init: Unknown option '--nope'"),
  })
  expect(readdirSync(cwd)).toEqual([])
  rmSync(cwd, { recursive: true })
})
