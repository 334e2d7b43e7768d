import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Launch } from '../../src/shell/launcher.ts'
import { type Pipe, PipePool } from '../../src/shell/output/pipe-pool.ts'
import { startProcess } from '../../src/shell/start-process.ts'

const scratch = mkdtempSync(join(tmpdir(), 'helix-start-'))
const pool = new PipePool()
const failToLaunch = () =>
  startProcess(pipes, () => {
    throw new Error('no directory')
  }, [ignore, ignore])

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let pipes: readonly [Pipe, Pipe]
let openBefore: number
const openNow = (): number => readdirSync('/proc/self/fd').length
beforeEach(async () => {
  const before = openNow()
  pipes = [await pool.take(scratch), await pool.take(scratch)]
  openBefore = before
})

const launch = (more: Partial<Launch>): Launch => ({
  file: '/bin/true',
  args: [],
  name: 'true',
  cwd: '/',
  env: {},
  isNamespaced: false,
  ...more,
})
const ignore = (): void => {}

describe('what cannot be launched', () => {
  it('closes both pipes', () => {
    expect(failToLaunch).toThrow('no directory')
    expect(openNow()).toBe(openBefore)
  })
  it.each([
    ['ENOENT', 'tool', 127, 'tool: command not found\n'],
    ['EACCES', './tool', 126, './tool: Permission denied\n'],
  ] as const)('for %s says so as a shell does', async (obstacle, name, exitCode, complaint) => {
    const started = startProcess(pipes, () => launch({ obstacle, name }), [ignore, ignore])
    expect(await started.ended).toEqual({ exitCode, complaint })
    expect([started.pid, started.channel]).toEqual([undefined, undefined])
    expect(started.pipePaths).toEqual(pipes.map(({ path }) => path))
    await Promise.all(started.readers.map((reader) => reader.ended))
    await expect.poll(openNow).toBe(openBefore)
    expect(started.pipePaths.some((path) => existsSync(path))).toBe(false)
  })
  it.each([
    ['', []],
    ['a\0', []],
    ['a', ['b\0']],
  ])('as %j with %j is no command', (name, args) => {
    const start = () =>
      startProcess(pipes, () => launch({ obstacle: 'ENOENT', name, args }), [ignore, ignore])
    expect(start).toThrow('the command is empty or holds a NUL')
    expect(openNow()).toBe(openBefore)
  })
})
