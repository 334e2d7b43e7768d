import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { reapLocalBashTmpdirs, type ReapOptions } from '@helix-agents/workspace-local-bash'
import { DirectorySnapshotStore } from '@helix-agents/workspace-local-bash/parts'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { MARKER_VARIABLE } from '../../src/shell/processes/process-table.ts'
import { untilOver } from '../slow-machine.ts'
import { isUnfinished, lastChangeMs, removeUnfinished } from '../../src/operate/unfinished.ts'
import { date, DEAD, markerOf, NAME, place, PLACED_MS, useRoot } from './placed-workspace.ts'

const root = useRoot()
const HOUR_MS = 3_600_000

const reap = (laterMs: number, options: ReapOptions = {}) =>
  reapLocalBashTmpdirs({
    tmpdirRoot: root(),
    clock: new ManualClock(PLACED_MS + laterMs),
    ...options,
  })
const nothing = { removed: [], live: [], waiting: [], foreign: [], failed: [], snapshots: [] }

/** Of a workspace that was never finished. */
const leftPath = (): string => join(root(), NAME)

describe('how long a workspace waits', () => {
  const { process: _, ...detached } = markerOf()
  it.each([
    ['of a dead owner', markerOf({ process: DEAD }), HOUR_MS, 'graceMs'],
    ['without an owner', detached, 7 * 24 * HOUR_MS, 'detachedGraceMs'],
    [
      'of an owner elsewhere',
      markerOf({ process: { ...DEAD, place: 'another-host' } }),
      7 * 24 * HOUR_MS,
      'detachedGraceMs',
    ],
  ] as const)('%s', async (_title, marker, graceMs, option) => {
    place(root(), marker)
    expect(await reap(graceMs - 1)).toEqual({ ...nothing, waiting: [NAME] })
    expect(await reap(graceMs, { dryRun: true })).toEqual({ ...nothing, removed: [NAME] })
    const atOnce = { [option]: 0, dryRun: true }
    expect(await reap(0, atOnce)).toEqual({ ...nothing, removed: [NAME] })
    expect(await reap(4, { [option]: 5 })).toEqual({ ...nothing, waiting: [NAME] })
    expect(await reap(5, { [option]: 5 })).toEqual({ ...nothing, removed: [NAME] })
    expect(readdirSync(root())).toEqual([])
  })
  it('that was never finished', async () => {
    const path = leftPath()
    mkdirSync(join(path, 'root'), { recursive: true })
    utimesSync(join(path, 'root'), 1, PLACED_MS / 1000)
    utimesSync(path, 1, 1)
    expect(await reap(24 * HOUR_MS - 1)).toEqual({ ...nothing, waiting: [NAME] })
    expect(await reap(4, { unfinishedGraceMs: 5 })).toEqual({ ...nothing, waiting: [NAME] })
    expect(await reap(24 * HOUR_MS)).toEqual({ ...nothing, removed: [NAME] })
    expect(readdirSync(root())).toEqual([])
  })
  it('of this process is for ever', async () => {
    place(root(), markerOf())
    expect(await reap(1000 * 24 * HOUR_MS)).toEqual({ ...nothing, live: [NAME] })
  })
  it('begins at its last use, and at the change time of what is dated later than now', async () => {
    const path = place(root(), markerOf({ process: DEAD, sinceMs: PLACED_MS + 50 }))
    utimesSync(join(path, 'scratch'), 1, PLACED_MS / 1000 + 0.0705)
    expect(await reap(74, { graceMs: 5 })).toEqual({ ...nothing, waiting: [NAME] })
    expect(await reap(75, { graceMs: 5, dryRun: true })).toEqual({ ...nothing, removed: [NAME] })
    date(path, PLACED_MS + 10_000)
    // Their change times are those of today, and later than that clock as well.
    expect(await reap(1000, { graceMs: 5 })).toEqual({ ...nothing, waiting: [NAME] })
  })
})

describe('what a workspace has left', () => {
  it('are processes, which end with it', async () => {
    const name = `helix-ws-reaped${process.pid}`
    place(root(), markerOf({ process: DEAD }), name)
    const env = { [MARKER_VARIABLE]: `${name}:1` }
    const child = spawn('/bin/sleep', ['986'], { env, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    const ended = once(child, 'exit')
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const reaping = reap(HOUR_MS)
    expect(await ended).toEqual([null, 'SIGKILL'])
    for (let turn = 0; turn < 20; turn += 1) await new Promise((next) => setImmediate(next))
    // It may have started others meanwhile, which would write into the directory.
    expect(readdirSync(root())).toEqual([`${name}.reaped`])
    expect(await untilOver(reaping)).toEqual({ ...nothing, removed: [name] })
    expect(readdirSync(root())).toEqual([])
  })
  it('are snapshots, which wait as long', async () => {
    const directory = join(root(), 'store')
    await new DirectorySnapshotStore({ directory }).putBlocks('line', [])
    const [scope = ''] = readdirSync(directory)
    utimesSync(join(directory, scope), 1, PLACED_MS / 1000)
    const options = { snapshotDirectory: directory }
    expect((await reap(HOUR_MS - 1, options)).snapshots).toEqual([])
    expect((await reap(4, { ...options, graceMs: 5 })).snapshots).toEqual([])
    expect((await reap(HOUR_MS, { ...options, dryRun: true })).snapshots).toEqual(['line'])
    expect((await reap(HOUR_MS, options)).snapshots).toEqual(['line'])
    expect(readdirSync(directory)).toEqual([])
  })
  it('are removals that were interrupted, which are finished first', async () => {
    const names = Array.from({ length: 9 }, (_, n) => `helix-ws-several${n}`)
    const all = names.flatMap((name) => [name, `${name}.reaped`])
    for (const name of all) place(root(), markerOf({ process: DEAD }), name)
    const { removed, waiting } = await reap(HOUR_MS)
    expect([removed.toSorted(), waiting]).toEqual([all.toSorted(), []])
    expect(readdirSync(root())).toEqual([])
  })
})

describe('what stands in the way', () => {
  it('is an earlier removal that cannot be finished: the next one waits', async () => {
    place(root(), markerOf({ process: DEAD }))
    writeFileSync(join(root(), `${NAME}.reaped`), '')
    expect(await reap(HOUR_MS)).toEqual({
      ...nothing,
      waiting: [NAME],
      foreign: [`${NAME}.reaped`],
    })
  })
  it('is told, and logged, and harms no other', async () => {
    place(root(), markerOf({ process: DEAD }))
    place(root(), markerOf({ process: DEAD }), 'helix-ws-others')
    const logger = new RecordingLogger()
    const failing = new ManualClock(PLACED_MS + HOUR_MS)
    const error = new Error('no time')
    let asked = 0
    const clock = Object.assign(failing, {
      now: () => {
        asked += 1
        if (asked === 1) throw error
        return PLACED_MS + HOUR_MS
      },
    })
    const report = await reapLocalBashTmpdirs({ tmpdirRoot: root(), clock, logger })
    const [{ name } = { name: '' }] = report.failed
    expect(report.failed).toEqual([{ name, error }])
    expect([...report.removed, name].toSorted()).toEqual([NAME, 'helix-ws-others'])
    expect(logger.lines).toEqual([
      { level: 'error', message: 'workspace could not be reaped', fields: { err: error, name } },
    ])
  })
  it.each([
    ['that is there', 'ENOENT', false, 1],
    ['that is gone', 'ENOENT', true, 0],
    ['that is gone for another reason', 'EIO', true, 1],
  ])('is told of a workspace %s after %s', async (_, code, isGone, count) => {
    const path = place(root(), markerOf({ process: DEAD }))
    const clock = Object.assign(new ManualClock(PLACED_MS), {
      now: () => {
        if (isGone) rmSync(path, { recursive: true })
        throw Object.assign(new Error(code), { code })
      },
    })
    const { failed, ...rest } = await reapLocalBashTmpdirs({ tmpdirRoot: root(), clock })
    expect([failed.length, rest]).toEqual([
      count,
      { removed: [], live: [], waiting: [], foreign: [], snapshots: [] },
    ])
  })
  it('is a place of workspaces that is gone: their snapshots stay', async () => {
    const directory = join(root(), 'store')
    const store = new DirectorySnapshotStore({ directory })
    await store.putBlocks('line', [])
    const options = { snapshotDirectory: directory, graceMs: 0 }
    const gone = await reapLocalBashTmpdirs({ ...options, tmpdirRoot: join(root(), 'gone') })
    expect([gone.snapshots, store.holds('line')]).toEqual([[], true])
    const there = await reapLocalBashTmpdirs({ ...options, tmpdirRoot: root() })
    expect([there.snapshots, store.holds('line')]).toEqual([['line'], false])
    const none = { ...options, snapshotDirectory: join(root(), 'none'), tmpdirRoot: root() }
    expect((await reapLocalBashTmpdirs(none)).snapshots).toEqual([])
  })
  it('is a directory of workspaces that cannot be read', async () => {
    writeFileSync(join(root(), 'file'), '')
    await expect(reap(0, { tmpdirRoot: join(root(), 'file') })).rejects.toMatchObject({
      code: 'ENOTDIR',
    })
    expect(await reap(0, { tmpdirRoot: join(root(), 'gone') })).toEqual(nothing)
  })
})

const draft = `owner.json.${'a'.repeat(32)}`
function fill(...names: readonly string[]): void {
  for (const name of names) {
    if (name.endsWith('/')) mkdirSync(join(leftPath(), name), { recursive: true })
    else {
      mkdirSync(leftPath(), { recursive: true })
      writeFileSync(join(leftPath(), name), name.startsWith('owner.json.') ? '{}' : '')
    }
  }
}

describe('a workspace that was never finished', () => {
  it.each([[['/']], [['root/', 'scratch/', 'tmp/']], [['owner.json']], [[draft, 'root/']]])(
    'holds %j',
    async (names) => {
      fill(...names)
      expect(isUnfinished(leftPath())).toBe(true)
      removeUnfinished(leftPath())
      expect(existsSync(leftPath())).toBe(false)
    },
  )
  it.each([
    [['other/']],
    [['other']],
    [['root']],
    [['root/', 'root/in/']],
    [[`${draft}0`]],
    [[`owner_json.${'a'.repeat(32)}`]],
    [[`${draft}/`]],
  ])('does not hold %j', (names) => {
    fill(...names)
    expect(isUnfinished(leftPath())).toBe(false)
  })
  it('has no marker with a content, and no link', () => {
    fill('root/')
    writeFileSync(join(leftPath(), 'owner.json'), 'x')
    expect(isUnfinished(leftPath())).toBe(false)
    rmSync(join(leftPath(), 'owner.json'))
    symlinkSync('root', join(leftPath(), draft))
    expect(isUnfinished(leftPath())).toBe(false)
  })
  it('was changed last when it, or what is in it, was', () => {
    fill('root/', 'tmp/')
    utimesSync(join(leftPath(), 'tmp'), 1, 1)
    utimesSync(join(leftPath(), 'root'), 1, 7.0015)
    utimesSync(leftPath(), 1, 5)
    expect(lastChangeMs(leftPath())).toBe(7001)
    utimesSync(leftPath(), 1, 9)
    expect(lastChangeMs(leftPath())).toBe(9000)
  })
  it('is not removed with what was added by now', () => {
    fill('root/', 'root/in/')
    expect(() => removeUnfinished(leftPath())).toThrow('ENOTEMPTY')
    expect(existsSync(join(leftPath(), 'root/in'))).toBe(true)
  })
})
