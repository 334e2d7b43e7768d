// Limits that a host sets once for all of its workspaces.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TmpdirFileSystem } from '@helix-agents/workspace-local-bash/parts'
import { expect, onTestFinished, test } from 'vitest'
import { TestHost } from './open-workspace.ts'

test('a command without a time of its own has that of `defaultTimeoutMs`', async () => {
  const host = new TestHost({ defaultTimeoutMs: 200 })
  onTestFinished(() => host.dispose())
  const { ws } = await host.open()
  expect(await ws.shell.run('sleep 976')).toMatchObject({ timedOut: true })
  expect(await ws.shell.run('true', { timeoutMs: 20_000 })).toMatchObject({ timedOut: false })
})

test('`maxFileBytes` is a limit of one file', async () => {
  const base = mkdtempSync(join(tmpdir(), 'helix-test-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root = '', scratch = ''] = ['root', 'scratch'].map((name) => join(base, name))
  for (const directory of [root, scratch]) mkdirSync(directory)
  const fs = new TmpdirFileSystem({
    root,
    scratch,
    maxFileBytes: 10,
    restore: () => mkdirSync(root),
  })
  await fs.writeFile('/a', '0123456789')
  await expect(fs.writeFile('/b', '0123456789+')).rejects.toMatchObject({ code: 'too-large' })
  await expect(fs.stat('/b')).rejects.toMatchObject({ code: 'not-found' })
})
