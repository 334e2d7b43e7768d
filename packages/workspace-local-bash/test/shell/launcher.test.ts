import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ANCHOR_NO_LINK } from '../../src/file-system/path/open-flags.ts'
import { PinnedDirectory } from '../../src/file-system/path/pinned-directory.ts'
import { DEFAULT_PASS_ENV, passedEnvironment } from '../../src/shell/environment.ts'
import { findProgram, findSystemProgram, isProgram } from '../../src/shell/find-program.ts'
import { createBubblewrapLauncher, createPlainLauncher } from '../../src/shell/launcher.ts'
import { initCommand } from '../../src/shell/namespace/namespace-init.ts'
import type { Namespace } from '../../src/shell/namespace/namespace.ts'
import { isInForce, processLimits } from '../../src/shell/namespace/process-limit.ts'
import { FALLBACK_PATH } from '../../src/shell/program-path.ts'

let base: string
let directory: PinnedDirectory
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'helix-launch-'))
  directory = PinnedDirectory.open(base, ANCHOR_NO_LINK)
})
afterEach(() => {
  directory.close()
  rmSync(base, { recursive: true, force: true })
})

/** Shows what it is to wrap. */
const namespace: Namespace = {
  limit: (max) => `limit ${max}`,
  wrap: (words, env, maxProcesses) => ({
    file: 'enter',
    args: [`${maxProcesses}`, ...words],
    env: { ...env, INSIDE: 'yes' },
  }),
}
const bash = findProgram('bash') ?? ''
const LINE_WORDS = ['--noprofile', '--norc', '-c', '--']
const plain = (held: Namespace | undefined) =>
  createPlainLauncher('/root-of-it', '/tmp-of-it', { namespace: held, maxProcesses: 500 })
const program = (name: string, mode = 0o755): string => {
  writeFileSync(join(base, name), '#!/bin/sh\n', { mode })
  return join(base, name)
}

/** In a namespace. */
const launch = (command: string | readonly string[], env: Record<string, string> = {}) =>
  plain(namespace).launch({ command, path: '/', directory, env })
const bubblewrap = (held: Namespace | undefined) =>
  createBubblewrapLauncher('/root-of-it', '/tmp-of-it', { namespace: held, maxProcesses: 500 })
/** In bubblewrap. */
const launchAt = (path: string, env: Record<string, string> = {}) =>
  bubblewrap(undefined).launch({ command: ['tool', 'x'], path, directory, env })
const lines = (isRoot: boolean, kernel: string) =>
  processLimits(isRoot, kernel).map((limit) => limit(500))

describe('commands without a namespace', () => {
  it('see the host, and have no limit', () => {
    const made = plain(undefined)
    expect(made).toMatchObject({
      shellRoot: '/root-of-it',
      baseEnv: { HOME: '/root-of-it', TMPDIR: '/tmp-of-it' },
      isNamespaced: false,
      maxProcesses: undefined,
    })
    expect(made.sees('/anything')).toBe(true)
  })
  it('are started in their directory, a line by bash', () => {
    const request = { path: '/', directory, env: { A: '1' } }
    expect(plain(undefined).launch({ ...request, command: 'echo' })).toEqual({
      file: bash,
      args: [...LINE_WORDS, 'echo'],
      name: bash,
      cwd: directory.self,
      env: { PWD: base, A: '1' },
      isNamespaced: false,
    })
    const words = plain(undefined).launch({
      ...request,
      command: ['missing', '-x'],
      env: { PWD: '/own' },
    })
    expect(words).toMatchObject({ file: 'missing', args: ['-x'], env: { PWD: '/own' } })
  })
})

describe('commands in a namespace', () => {
  it('have a limit where the namespace has one', () => {
    expect(plain(namespace)).toMatchObject({ isNamespaced: true, maxProcesses: 500 })
    const unlimited = plain({ ...namespace, limit: undefined })
    expect(unlimited).toMatchObject({ isNamespaced: true, maxProcesses: undefined })
  })
  it('are wrapped', () => {
    expect(launch('echo', { A: '1' })).toEqual({
      file: 'enter',
      args: ['500', bash, ...LINE_WORDS, 'echo'],
      name: bash,
      cwd: directory.self,
      env: { PWD: base, A: '1', INSIDE: 'yes' },
      isNamespaced: true,
    })
  })
  it('are found by path, from the working directory on', () => {
    const path = program('tool')
    for (const name of [path, './tool']) {
      expect(launch([name, 'x'])).toMatchObject({ args: ['500', name, 'x'], name })
    }
  })
  it('are found in PATH, where an empty entry is the working directory', () => {
    program('tool')
    program('-tool')
    for (const PATH of [base, `/nowhere:${base}`, '', ':/nowhere', '/nowhere:', '.']) {
      expect([PATH, launch(['tool'], { PATH }).args]).toEqual([PATH, ['500', 'tool']])
    }
    // Without PATH, as with an empty one.
    expect(launch(['tool'], {}).args).toEqual(['500', 'tool'])
    // A name like an option would be one.
    expect(launch(['-tool'], { PATH: base }).args).toEqual(['500', join(base, '-tool')])
    expect(launch(['tool'], { PATH: '/nowhere' }).obstacle).toBe('ENOENT')
    rmSync(join(base, 'tool'))
    expect(launch(['tool']).obstacle).toBe('ENOENT')
  })
  it('that cannot be started are not, and why is told', () => {
    program('closed', 0o644)
    mkdirSync(join(base, 'directory'))
    for (const [name, obstacle] of [
      ['./closed', 'EACCES'],
      [join(base, 'closed'), 'EACCES'],
      ['./directory', 'EACCES'],
      ['./missing', 'ENOENT'],
      [join(base, 'missing'), 'ENOENT'],
      ['closed', 'ENOENT'],
    ] as const) {
      expect(launch([name, 'x'], { PATH: base })).toEqual({
        file: name,
        args: ['x'],
        name,
        cwd: directory.self,
        env: { PWD: base, PATH: base },
        isNamespaced: false,
        obstacle,
      })
    }
    expect(launch([])).toMatchObject({ name: '', args: [] })
  })
})

describe.skipIf(findProgram('bwrap') === undefined)('commands in bubblewrap', () => {
  it('see the programs of the host, at their places', () => {
    const made = bubblewrap(namespace)
    expect(made).toMatchObject({
      shellRoot: '/workspace',
      baseEnv: { HOME: '/workspace', TMPDIR: '/tmp' },
      isNamespaced: true,
    })
    // Root has another limit.
    expect(made.maxProcesses).toBe(process.getuid?.() === 0 ? undefined : 500)
    expect(bubblewrap(undefined).maxProcesses).toBeUndefined()
    const paths = ['/usr/bin/x', '/usr', '/lib64/x', '/opt', '/usrx', '/etc/passwd', '/home', '']
    expect(paths.filter((path) => made.sees(path))).toEqual([
      '/usr/bin/x',
      '/usr',
      '/lib64/x',
      '/opt',
    ])
  })
  it('are started in their directory below /workspace', () => {
    const { args, env, ...facts } = launchAt('/')
    expect(facts).toEqual({
      file: findSystemProgram('bwrap'),
      name: 'tool',
      cwd: '/',
      isNamespaced: true,
    })
    const text = args.join(' ')
    expect(text).toMatch(/^--unshare-all --die-with-parent --as-pid-1 --new-session --cap-drop ALL/)
    for (const part of [
      '--hostname workspace --proc /proc --dev /dev --ro-bind /proc/sys /proc/sys',
      '--ro-bind /usr /usr',
      '--bind /root-of-it /workspace --bind /tmp-of-it /tmp --chdir /workspace --',
    ]) {
      expect(text).toContain(part)
    }
    expect(args.slice(-2)).toEqual(['tool', 'x'])
    expect(Object.values(env)).toEqual(['/workspace'])
    expect(Object.values(launchAt('/d/e').env)).toEqual(['/workspace/d/e'])
    expect(launchAt('/d/e').args.join(' ')).toContain('--chdir /workspace/d/e --')
    expect(Object.values(launchAt('/', { PWD: '/own' }).env)).toEqual(['/own'])
  })
  it('read programs and what these need, as far as the host has them', () => {
    const paths = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt']
    const files = 'alternatives ld.so.cache ld.so.conf ld.so.conf.d localtime nsswitch.conf passwd'
    for (const name of `${files} group ssl mime.types`.split(' ')) paths.push(`/etc/${name}`)
    const { args } = launchAt('/')
    const bound = args.flatMap((word, at) => (word === '--ro-bind' ? [args[at + 1]] : []))
    expect(bound).toEqual(['/proc/sys', ...paths.filter((path) => existsSync(path))])
  })
})

it('the first process of a namespace sets variables and limits, and runs the words', () => {
  const [begin, run] = ['printf + >&2; exec 2>/dev/null', '(exec "$@" 2>&3 3>&-); exit $?']
  expect(initCommand(['a', 'b'], {})).toEqual({
    args: ['-c', `${begin}\n${run}`, 'init', 'a', 'b'],
    env: {},
  })
  const given = { A: '1', HELIX_WS_PROCESS: 'm', UID: '7', 'B-C': '2', _d: '3' }
  expect(initCommand(['a'], given, 'limit')).toEqual({
    args: [
      '-c',
      [
        begin,
        'limit',
        'export A="$HELIX_WS_0_"; unset HELIX_WS_0_',
        'export _d="$HELIX_WS_1_"; unset HELIX_WS_1_',
        run,
      ].join('\n'),
      'init',
      'a',
    ],
    env: { HELIX_WS_0_: '1', HELIX_WS_PROCESS: 'm', 'B-C': '2', HELIX_WS_1_: '3' },
  })
})

it('a limit of processes is in force when one of two says so', () => {
  const user = 'Max processes             2048                 63517                processes'
  for (const [printed, expected] of [
    [['2048'], true],
    [['32768', user], true],
    [['32768', user.replace('2048', '20480')], false],
    [['32768', `x${user}`], false],
    [['32768'], false],
    [[], false],
  ] as const) {
    expect([printed, isInForce(printed)]).toEqual([printed, expected])
  }
  expect(lines(true, '6.14')).toEqual(['echo 500 > /proc/sys/kernel/pid_max'])
  expect(lines(false, '5.14-rc1')).toEqual(['ulimit -u 500 || ulimit -p 500'])
  for (const kernel of ['6.13.9', '5.20', '', 'x']) expect(lines(true, kernel)).toEqual([])
  for (const kernel of ['5.13', '4.20', '']) expect(lines(false, kernel)).toEqual([])
  for (const kernel of ['7.0', '6.15.1-x']) expect(lines(true, kernel)).toHaveLength(1)
})

describe('variables of the host', () => {
  const host = {
    PATH: '/bin',
    LANG: 'C',
    LC_ALL: 'C',
    LC: 'x',
    TZ: 'UTC',
    HOME: '/h',
    X: undefined,
  }
  it('are passed on by name, or by the start of it', () => {
    expect(passedEnvironment(host, DEFAULT_PASS_ENV)).toEqual({
      PATH: '/bin',
      LANG: 'C',
      LC_ALL: 'C',
      TZ: 'UTC',
    })
    expect(passedEnvironment(host, ['LC*'])).toEqual({ PATH: FALLBACK_PATH, LC_ALL: 'C', LC: 'x' })
    const all = { PATH: '/bin', LANG: 'C', LC_ALL: 'C', LC: 'x', TZ: 'UTC', HOME: '/h' }
    expect(passedEnvironment(host, ['*'])).toEqual(all)
    expect(passedEnvironment(host, ['X', 'LAN', 'HOMES'])).toEqual({ PATH: FALLBACK_PATH })
  })
})

describe('a program of the host', () => {
  it('is a file that may be executed', () => {
    mkdirSync(join(base, 'directory'))
    const paths = [program('tool'), program('closed', 0o644), join(base, 'directory'), base + '/no']
    expect(paths.map(isProgram)).toEqual([true, false, false, false])
  })
  it('is found in the directories of the system last, or first', () => {
    program('sh')
    const before = process.env.PATH
    process.env.PATH = base
    try {
      expect(findProgram('sh')).toBe(join(base, 'sh'))
      expect(findSystemProgram('sh')).toMatch(/^\/(usr\/)?bin\/sh$/)
      expect(findSystemProgram('no-such-program')).toBeUndefined()
      program('only-here')
      expect(findSystemProgram('only-here')).toBe(join(base, 'only-here'))
      delete process.env.PATH
      expect(findProgram('only-here')).toBeUndefined()
      expect(findSystemProgram('sh')).toMatch(/bin\/sh$/)
    } finally {
      process.env.PATH = before
    }
  })
})
