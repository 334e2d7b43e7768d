// How workspaces are made and attached to, without any command.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeConfigSchema, logMessages, type OpenOptions } from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  LocalBashWorkspaces,
  type LocalBashWorkspacesOptions,
  type Opening,
} from '../src/local-bash-workspaces.ts'
import { hashSession, ownMarker, type OwnerMarker, readOwner, writeOwner } from '../src/owner.ts'
import { findProgram } from '../src/shell/find-program.ts'
import { probeNamespace } from '../src/shell/namespace/namespace.ts'
import { MARKER_VARIABLE, readProcess } from '../src/shell/processes/process-table.ts'
import { text } from './open-workspace.ts'
import { useDirectory } from './snapshots/store/store-fixture.ts'

const base = useDirectory()
const session = { sessionId: 's', agentType: 'a' }
const DEAD = { pid: 1, startTime: 1, bootId: 'of an earlier start' } as const
const MEBIBYTE = 1024 * 1024

let clock: ManualClock
let logger: RecordingLogger
let opened: LocalBashWorkspace[]
beforeEach(() => {
  ;[clock, logger, opened] = [new ManualClock(5000), new RecordingLogger(), []]
})
afterEach(async () => {
  for (const ws of opened) await ws.close()
})

const workspaces = (more: Partial<LocalBashWorkspacesOptions> = {}): LocalBashWorkspaces =>
  new LocalBashWorkspaces({
    tmpdirRoot: base(),
    containment: 'scan',
    parseConfig: () => ({ kind: 'local-bash' }),
    ...more,
  })
const optionsOf = (capabilities: OpenOptions['capabilities'] = {}): OpenOptions => ({
  workspace: 'box',
  capabilities,
  signal: new AbortController().signal,
  logger,
  clock,
})
async function open(all = workspaces(), more: Partial<Opening> = {}) {
  const opening = { env: {}, isolation: 'none', session, options: optionsOf(), ...more } as const
  const { ws, ...rest } = await all.open(opening)
  return { ...rest, ws: keep(ws) }
}
function keep(ws: object): LocalBashWorkspace {
  opened.push(ws as LocalBashWorkspace)
  return ws as LocalBashWorkspace
}
const pathOf = (ws: LocalBashWorkspace): string => join(base(), ws.id)
async function resolve(directory: string, sessionId = 's', all = workspaces()) {
  const options = { ...optionsOf(), session: { ...session, sessionId } }
  const { ws, ...rest } = await all.resolve({ directory, isolation: 'none' }, options)
  return { ...rest, ws: keep(ws) }
}
/** A workspace whose marker has other fields. @returns its name */
async function left(more: { [Field in keyof OwnerMarker]?: OwnerMarker[Field] | undefined }) {
  const { ws } = await open()
  const marker = { ...readOwner(pathOf(ws)), ...more }
  writeOwner(pathOf(ws), JSON.parse(JSON.stringify(marker)) as OwnerMarker)
  return ws.id
}

describe('a workspace that is opened', () => {
  it('has a marker, a ref and a receipt', async () => {
    const env = { A: '1' }
    const { ws, ref, receipt } = await open(workspaces({ clock: new ManualClock(7000) }), { env })
    const { line = '', ...rest } = readOwner(pathOf(ws)) ?? {}
    const own = ownMarker({ env, sinceMs: 7000, session: hashSession('s'), isolation: 'none' })
    expect([rest, line]).toEqual([own, expect.stringMatching(/^[0-9a-f]{32}$/)])
    expect([ref.ref, receipt]).toEqual([
      { directory: ws.id, isolation: 'none' },
      { outcome: 'created' },
    ])
    expect(ws).toMatchObject({
      isolation: 'none',
      containment: 'scan',
      shellRoot: join(pathOf(ws), 'root'),
    })
    expect([ws.maxProcesses, ws.code]).toEqual([undefined, undefined])
    expect(readdirSync(pathOf(ws))).toEqual(['owner.json', 'root', 'scratch', 'tmp'])
  })
  it('and cannot be made leaves nothing', async () => {
    const capabilities = { code: codeConfigSchema.parse({ languages: ['ruby'] }) }
    const failing = open(workspaces(), { options: optionsOf(capabilities) })
    await expect(failing).rejects.toMatchObject({ code: 'capability-missing' })
    expect(readdirSync(base())).toEqual([])
  })
  it('has files as large as is declared', async () => {
    const { ws } = await open(workspaces(), {
      options: optionsOf({ fs: { maxFileSizeMb: 1 } } as OpenOptions['capabilities']),
    })
    await ws.fs.writeFile('/f', new Uint8Array(MEBIBYTE))
    await expect(ws.fs.writeFile('/f', new Uint8Array(MEBIBYTE + 1))).rejects.toMatchObject({
      code: 'too-large',
    })
    expect(existsSync(join(ws.shellRoot, 'f'))).toBe(true)
  })
  it('has code in the languages that are declared', async () => {
    const capabilities = { code: codeConfigSchema.parse({ languages: ['bash'] }) }
    const { ws } = await open(workspaces(), { options: optionsOf(capabilities) })
    expect(ws.code?.languages).toEqual(['bash'])
  })
  it('brings its directories back', async () => {
    const { ws } = await open()
    rmSync(ws.shellRoot, { recursive: true })
    await ws.fs.writeFile('/f', 'x')
    expect(existsSync(join(ws.shellRoot, 'f'))).toBe(true)
  })
  it('is found by no other way than a scan, and its log says so once', async () => {
    const all = workspaces()
    await open(all)
    await open(all)
    const fields = { providerId: 'local-bash', isolation: 'none', containment: 'scan' }
    expect(logger.lines).toEqual([{ level: 'warn', message: logMessages.noIsolation, fields }])
    const own = new RecordingLogger()
    await open(workspaces({ logger: own }))
    expect([logger.lines.length, own.lines.length]).toEqual([1, 1])
  })
  it('has a namespace where the host gives one, unless it has to have one', async () => {
    const { namespace, reason } = await probeNamespace()
    const containment = namespace === undefined ? 'scan' : 'namespace'
    const { ws } = await open(workspaces({ containment: 'auto' }))
    expect([ws.containment, ws.maxProcesses]).toEqual([containment, namespace?.limit && 2048])
    const fields = { providerId: 'local-bash', isolation: 'none', containment }
    const expected = reason === undefined ? fields : { ...fields, reason }
    expect(logger.lines[0]?.fields).toStrictEqual(expected)
    const [opening] = await Promise.allSettled([open(workspaces({ containment: 'namespace' }))])
    expect(opening).toMatchObject(
      namespace === undefined
        ? { reason: { code: 'config-invalid' } }
        : { value: { ws: { containment: 'namespace' } } },
    )
    const { ws: other } = await open(workspaces({ containment: 'auto', maxProcesses: 301 }))
    expect(other.maxProcesses).toBe(namespace?.limit && 301)
  })
  it.skipIf(findProgram('bwrap') === undefined)(
    'in bubblewrap is said to be isolated',
    async () => {
      const { ws, ref } = await open(workspaces(), { isolation: 'bubblewrap' })
      expect(ws).toMatchObject({
        isolation: 'process',
        containment: 'namespace',
        shellRoot: '/workspace',
      })
      expect([ref.ref, logger.lines]).toEqual([{ directory: ws.id, isolation: 'bubblewrap' }, []])
    },
  )
})

describe('a workspace that is attached to', () => {
  it('has a new marker with what the old one kept', async () => {
    const kept = { env: { A: '1' }, line: '1'.repeat(32), isolation: 'none' } as const
    const name = await left({ ...kept, process: undefined, sinceMs: 1 })
    const { ws, ref, receipt } = await resolve(name, 's', workspaces({ clock }))
    expect(readOwner(pathOf(ws))).toEqual(
      ownMarker({ ...kept, sinceMs: 5000, session: hashSession('s') }),
    )
    expect([ref.ref, receipt]).toEqual([
      { directory: name, isolation: 'none' },
      { outcome: 'reattached' },
    ])
  })
  it('says once what a restore has lost', async () => {
    const name = await left({ process: undefined, lost: 'a link' })
    expect((await resolve(name)).receipt).toEqual({ outcome: 'reattached', detail: 'a link' })
    expect((await resolve(name)).receipt).toEqual({ outcome: 'reattached' })
  })
  it('is one of its session, or of none so far', async () => {
    const name = await left({})
    await expect(resolve(name, 'other')).rejects.toMatchObject({
      code: 'ref-invalid',
      message: 'the ref is of another session',
    })
    await expect(resolve(await left({ session: undefined }), 'other')).resolves.toBeDefined()
  })
  it('needs no marker', async () => {
    mkdirSync(join(base(), 'helix-ws-abcdef'))
    const { ws } = await resolve('helix-ws-abcdef')
    expect(readOwner(pathOf(ws))).toMatchObject({
      env: {},
      session: hashSession('s'),
      line: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    })
  })
  it.each([
    ['a dead owner', true, { process: DEAD }],
    ['no owner', false, { process: undefined }],
    ['an owner that runs', false, {}],
    ['an owner that may run', false, { process: { ...DEAD, place: 'another-host' } }],
  ])('of %s has processes, which are ended: %s', async (_, isEnded, more) => {
    const name = await left(more)
    const env = { [MARKER_VARIABLE]: `${name}:1` }
    const child = spawn('/bin/sleep', ['986'], { env, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    const ended = once(child, 'exit')
    await resolve(name)
    // At once, not only some time later.
    expect((readProcess(child.pid ?? 0)?.state ?? 'Z') === 'Z').toBe(isEnded)
    if (isEnded) await ended
    expect([child.exitCode, child.signalCode]).toEqual([null, isEnded ? 'SIGKILL' : null])
  })
})

describe('commands', () => {
  it('have variables of the host, of the workspace, and of its declaration', async () => {
    process.env.HELIX_TEST_PASSED = 'host'
    onTestFinished(() => void delete process.env.HELIX_TEST_PASSED)
    const all = workspaces({ passEnv: ['HELIX_TEST_*', 'PATH'] })
    const { ws } = await open(all, { env: { A: '1', PATH: `.:/usr/bin:/bin` } })
    const { stdout } = await ws.shell.run('echo $HELIX_TEST_PASSED $A $PATH $HOME $TMPDIR')
    const [root, tmp] = ['root', 'tmp'].map((part) => join(pathOf(ws), part))
    expect(text(stdout)).toBe(`host 1 /usr/bin:/bin ${root} ${tmp}\n`)
    const { ws: plain } = await open()
    const none = await plain.shell.run('echo [$HELIX_TEST_PASSED]')
    expect(text(none.stdout)).toBe('[]\n')
  })
  it('have two minutes, and a mebibyte of output', async () => {
    const { ws } = await open(workspaces({ clock }))
    const timed = await ws.shell.run('head -c 1048576 /dev/zero; echo >&2; exec sleep 986', {
      onStderr: async () => {
        await clock.advance(119_999)
        await clock.advance(1)
      },
    })
    expect([timed.timedOut, timed.stdoutCut, timed.exitCode]).toEqual([true, undefined, 124])
    const { stdoutCut } = await ws.shell.run('head -c 1048577 /dev/zero')
    expect(stdoutCut?.totalBytes).toBe(1_048_577)
  })
  it('have the bounds that the operator sets', async () => {
    const bounds = {
      defaultTimeoutMs: 50,
      maxOutputBytes: 4,
      maxStoredOutputBytes: 9,
      killGraceMs: 1,
    }
    const { ws } = await open(workspaces({ clock, ...bounds }))
    const line = 'trap "" TERM; printf 0123456789; echo >&2; while :; do sleep 986; done'
    const { timedOut, stdoutCut, exitCode } = await ws.shell.run(line, {
      onStderr: () => clock.advance(50),
    })
    expect([timedOut, stdoutCut, exitCode]).toEqual([true, { totalBytes: 10, headBytes: 0 }, 124])
  })
})

describe('snapshots', () => {
  it('go with the last workspace of their line', async () => {
    const all = workspaces({ clock, snapshots: { directory: join(base(), 'store') } })
    const { ws } = await open(all)
    await ws.fs.writeFile('/f', 'x')
    const taken = await ws.snapshot.snapshot()
    expect(readdirSync(join(base(), 'store'))).toHaveLength(1)
    const restored = await ws.snapshot.restore(taken)
    const { directory } = restored.ref as { readonly directory: string }
    expect((await resolve(directory, 's', all)).ws.id).toBe(directory)
    for (const one of opened) await one.close()
    expect(readdirSync(join(base(), 'store'))).toEqual([])
  })
  it.each([
    [{ kind: 'local-bash', isolation: 'none' }, 'bubblewrap', 'none'],
    [{ kind: 'local-bash' }, 'bubblewrap', 'bubblewrap'],
    [{ kind: 'local-bash' }, undefined, 'none'],
  ] as const)(
    'that are kept are restored with %j and %j as %s',
    async (config, isolation, expected) => {
      const all = workspaces({
        clock,
        parseConfig: () => config,
        ...(isolation !== undefined && { isolation }),
      })
      const { ws } = await open(all)
      const kept = await ws.snapshot.snapshot({ keep: true })
      const options = { ...optionsOf(), session, config }
      const { ref } = await all.history.restore(kept, options)
      expect(ref).toMatchObject({ isolation: expected })
      expect((await all.history.list('s')).snapshots).toEqual([kept])
    },
  )
})
