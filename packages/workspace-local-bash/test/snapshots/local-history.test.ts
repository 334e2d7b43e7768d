// Kept snapshots and left workspaces of a session, without an open workspace.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotHeader } from '@helix-agents/core/provider'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { hashSession, ownMarker, type OwnerMarker, readOwner, writeOwner } from '../../src/owner.ts'
import { toRef } from '../../src/ref.ts'
import {
  bootId,
  MARKER_VARIABLE,
  processPlace,
  readProcess,
} from '../../src/shell/processes/process-table.ts'
import { LocalHistory } from '../../src/snapshots/local-history.ts'
import { LocalSnapshots, snapshotDirectoryIn } from '../../src/snapshots/local-snapshots.ts'
import { toSnapshotRef } from '../../src/snapshots/snapshot-ref.ts'
import { sha256 } from '../../src/snapshots/store/block-files.ts'
import { createDirectory } from '../../src/workspace-directory.ts'
import { untilOver } from '../slow-machine.ts'
import { manifestOf, useDirectory } from './store/store-fixture.ts'

const root = useDirectory()
const LINE = '1'.repeat(32)
const ID = '2'.repeat(32)
const DEAD = { pid: 1, startTime: 1, bootId: 'of an earlier start' } as const
const ELSEWHERE = { ...DEAD, place: 'another-host' }
const bytes = Buffer.from('content')
const file = { path: '/f', type: 'file', size: 7, blocks: [sha256(bytes)] } as const

let clock: ManualClock
let store: DirectorySnapshotStore
let history: LocalHistory
let parsed: unknown[]
beforeEach(() => {
  clock = new ManualClock(5000)
  store = new DirectorySnapshotStore({ directory: snapshotDirectoryIn(root()), clock })
  parsed = []
  history = new LocalHistory({
    tmpdirRoot: root(),
    snapshots: new LocalSnapshots(root(), clock),
    parseConfig: (config) => {
      parsed.push(config)
      return config === undefined ? { kind: 'local-bash' } : { kind: 'local-bash', env: { A: '1' } }
    },
    isolationOf: ({ env }) => (env === undefined ? 'none' : 'bubblewrap'),
  })
})

async function take(more: Partial<SnapshotHeader> = {}) {
  await store.putBlocks(LINE, [{ hash: file.blocks[0], bytes }])
  const manifest = await manifestOf(ID, [file], { kept: true, ...more })
  await store.putManifest(LINE, manifest)
  return toSnapshotRef({ line: LINE, id: ID, digest: manifest.header.digest })
}
const optionsOf = (sessionId = 's', more: object = {}) => ({
  session: { sessionId, agentType: 'a' },
  workspace: 'box',
  capabilities: {},
  signal: new AbortController().signal,
  logger: new RecordingLogger(),
  clock,
  ...more,
})
/** A workspace of the session. @param more what its marker has beside. */
function place(
  more: { readonly [Field in keyof OwnerMarker]?: OwnerMarker[Field] | undefined } = {},
) {
  const directory = createDirectory(root())
  const own = ownMarker({ env: {}, sinceMs: 1, session: hashSession('s'), isolation: 'none' })
  writeOwner(directory.path, JSON.parse(JSON.stringify({ ...own, ...more })) as OwnerMarker)
  return { ...directory, ref: toRef({ directory: directory.name, isolation: 'none' }) }
}

describe('a snapshot that is restored', () => {
  it.each([
    [undefined, {}, 'none'],
    ['declared', { A: '1' }, 'bubblewrap'],
  ] as const)('has what the config %j says', async (config, env, isolation) => {
    const ref = await take()
    const { ref: restored } = await history.restore(ref, optionsOf('s', { config }))
    const { directory } = restored as { readonly directory: string }
    expect(restored).toEqual({ directory, isolation })
    expect(parsed).toEqual([config])
    const path = join(root(), directory)
    expect(readFileSync(join(path, 'root', 'f'), 'utf8')).toBe('content')
    const session = hashSession('s')
    expect(readOwner(path)).toEqual({
      format: 1,
      session,
      line: LINE,
      env,
      isolation,
      sinceMs: 5000,
    })
  })
  it('is one of the session, unless others are allowed', async () => {
    const ref = await take({ sessionId: 'other' })
    await expect(history.restore(ref, optionsOf())).rejects.toMatchObject({ code: 'cross-session' })
    const allowed = optionsOf('s', { allowCrossSession: true })
    expect(await history.restore(ref, allowed)).toMatchObject({ providerId: 'local-bash' })
  })
  it('is none for a caller who has stopped: nothing is even parsed', async () => {
    const signal = AbortSignal.abort(new Error('stopped'))
    const stopped = history.restore(await take(), optionsOf('s', { signal }))
    await expect(stopped).rejects.toThrow('stopped')
    expect(parsed).toEqual([])
  })
  it('hears a stop meanwhile', async () => {
    const abort = new AbortController()
    const restored = history.restore(await take(), optionsOf('s', { signal: abort.signal }))
    abort.abort(new Error('stopped'))
    await expect(restored).rejects.toThrow('stopped')
  })
  it('and is damaged fails in the words of the store', async () => {
    const ref = await take()
    const damaged = { ...ref, ref: { ...(ref.ref as object), digest: 'f'.repeat(64) } }
    await expect(history.restore(damaged, optionsOf())).rejects.toMatchObject({
      name: 'WorkspaceFailedError',
      code: 'provider-failed',
      message: 'the stored snapshot is not the one that was taken',
      cause: expect.objectContaining({ code: 'corrupt' }) as Error,
    })
  })
})

describe('what a session has', () => {
  it('are its kept snapshots, and its workspaces as they were isolated', async () => {
    const taken = await take()
    const own = place()
    const boxed = place({ isolation: 'bubblewrap' })
    const older = place({ isolation: undefined })
    place({ session: hashSession('other') })
    place({ session: undefined })
    const { snapshots, workspaces } = await history.list('s')
    expect(snapshots).toEqual([taken])
    expect(workspaces).toHaveLength(3)
    expect(workspaces).toEqual(
      expect.arrayContaining([
        own.ref,
        ...[boxed, older].map(({ name }) => toRef({ directory: name, isolation: 'bubblewrap' })),
      ]),
    )
    expect((await history.list('nobody')).workspaces).toEqual([])
  })
  it('goes one by one, when it is removed', async () => {
    const ref = await take()
    await history.remove(ref)
    await history.remove(ref)
    expect([store.holds(LINE), (await history.list('s')).snapshots]).toEqual([false, []])
    await expect(history.remove({ ...ref, ref: {} })).rejects.toMatchObject({ code: 'ref-invalid' })
  })
})

describe('a workspace that is released', () => {
  it.each([
    ['of this process', {}],
    ['of a dead owner', { process: DEAD }],
    ['without an owner', { process: undefined }],
    ['of no session', { session: undefined }],
  ])('%s is gone, and what is gone is fine', async (_, more) => {
    const [own, other] = [place(more), place()]
    await history.release(own.ref, optionsOf())
    await history.release(own.ref, optionsOf())
    expect([existsSync(own.path), existsSync(other.path)]).toEqual([false, true])
  })
  it('takes the snapshots of its line that none keeps', async () => {
    await take({ kept: undefined } as object)
    const [own, other] = [place({ line: LINE }), place({ line: LINE })]
    await history.release(own.ref, optionsOf())
    expect(store.holds(LINE)).toBe(true)
    await history.release(other.ref, optionsOf())
    expect(store.holds(LINE)).toBe(false)
  })
  it('takes the processes that it has left', async () => {
    const own = place({ process: DEAD })
    const env = { [MARKER_VARIABLE]: `${own.name}:1` }
    const child = spawn('/bin/sleep', ['986'], { env, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    const ended = once(child, 'exit')
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const releasing = history.release(own.ref, optionsOf())
    expect(await ended).toEqual([null, 'SIGKILL'])
    for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next))
    // It may have started others meanwhile, which would write into the directory.
    expect(existsSync(own.path)).toBe(true)
    await untilOver(releasing)
    expect(existsSync(own.path)).toBe(false)
  })
  it('is one of the session', async () => {
    const own = place()
    await expect(history.release(own.ref, optionsOf('other'))).rejects.toMatchObject({
      code: 'ref-invalid',
      message: 'the ref is of another session',
    })
    const bad = { ...own.ref, ref: { directory: '../x', isolation: 'none' } }
    await expect(history.release(bad, optionsOf())).rejects.toMatchObject({ code: 'ref-invalid' })
    expect(existsSync(own.path)).toBe(true)
  })
  it.each([
    ['runs', { ...ELSEWHERE, ...readProcess(1), bootId: bootId(), place: processPlace() }],
    ['may run', ELSEWHERE],
  ])('is none of a process that %s', async (_, { pid, startTime, bootId: boot, place: at }) => {
    const own = place({ process: { pid, startTime, bootId: boot, place: at } })
    await expect(history.release(own.ref, optionsOf())).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'another process uses the workspace',
      transient: true,
    })
    expect(existsSync(own.path)).toBe(true)
  })
})
