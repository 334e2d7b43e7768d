// The scripts on links and permissions, run by the bash of this machine, and how their answers are read.
import { execFile } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '@helix-agents/core'
import { ContainerLink } from '../../../src/driver/remote/container-link.ts'
import { ScriptFiles } from '../../../src/driver/remote/script-files.ts'
import type { ScriptRunner } from '../../../src/driver/remote/script-runner.ts'

const here = process.platform === 'linux'
const note = here ? '' : ' (skipped: needs the bash and coreutils of Linux)'

const local: ScriptRunner['run'] = (script) =>
  new Promise((resolve) => {
    execFile('bash', ['-c', script], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ stdout, stderr, exitCode: Number(error?.code ?? 0) })
    })
  })

describe.skipIf(!here)(`links and permissions${note}`, () => {
  let root: string
  let calls: number
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'helix-attributes-'))
    calls = 0
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const at = (name: string): string => join(root, name)
  function attributes() {
    const runner = {
      run: (...given: Parameters<ScriptRunner['run']>) => {
        calls += 1
        return local(...given)
      },
    } as ScriptRunner
    const settings = { root, scratch: `${root}/.scratch` }
    const link = new ContainerLink({
      runner,
      settings,
      clock: systemClock,
      createNonce: () => 'aa',
    })
    return new ScriptFiles(link).attributes
  }

  it('describes many paths in one call, in their order, as stat does', async () => {
    mkdirSync(at('d'))
    writeFileSync(at('d/a'), 'abc', { mode: 0o640 })
    writeFileSync(at("it's\n-l"), '', { mode: 0o755 })
    symlinkSync('d/a', at('link'))
    symlinkSync('d', at('over'))
    const names = ['d/a', 'none', 'd', 'link', 'over/a', "it's\n-l", 'd/a/x']
    const found = await attributes().statMany(names.map(at))
    expect(found.map((one) => one && [one.type, one.mode.toString(8), one.sizeBytes])).toEqual([
      ['file', '640', 3],
      undefined,
      ['directory', '755', 0],
      undefined,
      undefined,
      ['file', '755', 0],
      undefined,
    ])
    expect(found[0]).toMatchObject({
      path: at('d/a'),
      modifiedAtMs: Math.floor(statSync(at('d/a')).mtimeMs),
    })
    expect(calls).toBe(1)
  })

  it('gives the version that stat gives, which changes with the file', async () => {
    writeFileSync(at('a'), 'one')
    const [before] = await attributes().statMany([at('a')])
    const [again] = await attributes().statMany([at('a')])
    writeFileSync(at('a'), 'two')
    const [after] = await attributes().statMany([at('a')])
    expect(again?.version).toBe(before?.version)
    expect(after?.version).not.toBe(before?.version)
  })

  it('sets permissions in the order given, so that a directory is closed last', async () => {
    mkdirSync(at('d'))
    writeFileSync(at('d/a'), '')
    const modes = [
      { path: at('d/a'), mode: 0o600 },
      { path: at('d'), mode: 0o500 },
    ]
    await attributes().writeModes(modes)
    expect([at('d'), at('d/a')].map((path) => statSync(path).mode & 0o777)).toEqual([0o500, 0o600])
    chmodSync(at('d'), 0o700)
  })

  it.each([
    ['what is missing', 'none', 'not-found'],
    ['a link', 'link', 'path-escape'],
    ['what is behind a link', 'over/a', 'path-escape'],
  ])('changes no permissions of %s', async (_, name, code) => {
    mkdirSync(at('d'))
    writeFileSync(at('d/a'), '', { mode: 0o644 })
    symlinkSync('d/a', at('link'))
    symlinkSync('d', at('over'))
    const change = attributes().writeModes([{ path: at(name), mode: 0o777 }])
    await expect(change).rejects.toMatchObject({ code })
    expect(statSync(at('d/a')).mode & 0o777).toBe(0o644)
  })

  it('makes links and reads them as they are', async () => {
    mkdirSync(at('d'))
    for (const target of ['../x y', "-l'\n\n", 'd']) {
      await attributes().makeLink(at('d/link'), target)
      expect(readlinkSync(at('d/link'))).toBe(target)
      expect(await attributes().readLink(at('d/link'))).toBe(target)
      rmSync(at('d/link'))
    }
  })

  it('makes no link in the place of something, not below a directory of the name either', async () => {
    mkdirSync(at('d'))
    symlinkSync('nowhere', at('dangling'))
    for (const name of ['d', 'dangling']) {
      const made = attributes().makeLink(at(name), 'x')
      await expect(made).rejects.toMatchObject({ code: 'exists' })
    }
    expect(readlinkSync(at('dangling'))).toBe('nowhere')
    expect(lstatSync(at('d')).isDirectory()).toBe(true)
    await expect(attributes().makeLink(at('no/link'), 'x')).rejects.toMatchObject({
      code: 'not-found',
    })
  })

  it('reads no link where there is none', async () => {
    writeFileSync(at('a'), '')
    for (const name of ['a', 'none']) {
      await expect(attributes().readLink(at(name))).rejects.toMatchObject({ code: 'not-found' })
    }
  })

  it('describes those of a directory together, and each by itself when one vanishes', async () => {
    mkdirSync(at('bin'))
    const log = at('log')
    // A program that fails for several, as it does when one of them is gone by then.
    const once = `#!/bin/bash\necho $(($# - 3)) >>'${log}'\n(($# > 4)) && exit 1\ncommand -p stat "$@"\n`
    writeFileSync(at('bin/stat'), once, { mode: 0o755 })
    mkdirSync(at('d'))
    const names = ['d/a', 'd/b', 'd/c', 'e']
    for (const name of names) writeFileSync(at(name), name, { mode: 0o600 })
    vi.stubEnv('PATH', `${at('bin')}:${process.env.PATH}`)
    const found = await attributes().statMany(names.map(at))
    expect(found.map((one) => one?.sizeBytes)).toEqual([3, 3, 3, 1])
    expect(readFileSync(log, 'utf8').trim().split('\n')).toEqual(['3', '1', '1', '1', '1'])
  })

  it('asks in several calls when the paths are long', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `${index}`.padStart(200, 'n'))
    for (const name of names) writeFileSync(at(name), '', { mode: 0o600 })
    const found = await attributes().statMany(names.map(at))
    expect(found.every((one, index) => one?.path === at(names[index] ?? ''))).toBe(true)
    expect(calls).toBe(5)
    await attributes().writeModes(names.map((name) => ({ path: at(name), mode: 0o640 })))
    expect(statSync(at(names[299] ?? '')).mode & 0o777).toBe(0o640)
    expect(calls).toBe(10)
  })
})
