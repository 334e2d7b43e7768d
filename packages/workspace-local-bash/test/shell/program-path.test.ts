import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findProgram } from '../../src/shell/find-program.ts'
import { FALLBACK_PATH, fixedEntries, fixedPath } from '../../src/shell/program-path.ts'
import { TestHost, text } from '../open-workspace.ts'

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'helix-path-')))
})
afterEach(() => rmSync(base, { recursive: true }))

it('entries that mean the working directory are left out', () => {
  expect(fixedEntries(':/bin::.:bin:./x:../y:/usr/bin:')).toEqual(['/bin', '/usr/bin'])
  expect(fixedPath('.::', '/w')).toBe(FALLBACK_PATH)
})

it('entries inside the workspace are left out, by name and through links', () => {
  const ws = join(base, 'ws')
  mkdirSync(join(ws, 'bin'), { recursive: true })
  mkdirSync(join(base, 'ws-other'))
  symlinkSync(join(ws, 'bin'), join(base, 'link'))
  const entries = [
    ws,
    join(ws, 'bin'),
    join(ws, 'missing'),
    join(base, 'link'),
    join(base, 'ws-other'),
  ]
  expect(fixedEntries(entries.join(':'), ws)).toEqual([join(base, 'ws-other')])
})

it('a program of the framework is not searched where it stands', () => {
  writeFileSync(join(base, 'only-here'), '#!/bin/sh\n', { mode: 0o755 })
  const before = process.cwd()
  process.chdir(base)
  try {
    for (const path of ['', '.', ':', './', '../'])
      expect(findProgram('only-here', path)).toBe(undefined)
  } finally {
    process.chdir(before)
  }
  expect(findProgram('only-here', base)).toBe(join(base, 'only-here'))
})

it.each(['', '.', './', 'bin/..'])(
  'a planted program does not run through the entry "%s"',
  async (entry) => {
    const before = process.env.PATH
    process.env.PATH = `${entry}:${before}`
    const host = new TestHost()
    try {
      const { ws } = await host.open()
      await ws.fs.writeFile('/ls', '#!/bin/sh\necho planted\n')
      chmodSync(join(host.tmpdirRoot, ws.id, 'root', 'ls'), 0o755)
      expect(text((await ws.shell.run(['ls'])).stdout)).toBe('ls\n')
      expect(text((await ws.shell.run('ls')).stdout)).toBe('ls\n')
    } finally {
      process.env.PATH = before
      await host.dispose()
    }
  },
)

it('a declaration that puts the workspace into PATH does not either', async () => {
  const host = new TestHost()
  const { ws } = await host.open({ env: { PATH: '.:/usr/bin:/bin' } })
  expect(text((await ws.shell.run('echo $PATH')).stdout)).toBe('/usr/bin:/bin\n')
  await host.dispose()
})
