// What every call to a sandbox passes: its time, its errors, the root that is brought back.
import { noopLogger } from '@helix-agents/core'
import { ManualClock } from '@helix-agents/core/testing'
import { describe, expect, it } from 'vitest'
import { DriverError, type DriverErrorOptions } from '../../src/driver/driver-error.ts'
import type { DriverFiles, SandboxDriver } from '../../src/driver/port.ts'
import { LiveSandbox } from '../../src/lifecycle/live-sandbox.ts'
import type { SandboxRef, StoredSnapshot } from '../../src/ref.ts'

const START_MS = 1_000_000
const capabilities = { fs: true } as ConstructorParameters<typeof LiveSandbox>[0]['capabilities']
const missing = (admitted: DriverErrorOptions['admitted'] = 'no'): DriverError =>
  new DriverError('directory-missing', 'x', { admitted })

/** @param said What the recovery of the root says; undefined: it fails. */
function live(said?: string) {
  const clock = new ManualClock(START_MS)
  const commands: (readonly string[])[] = []
  const plain = { name: 'plain', withoutLinks: () => ({ name: 'strict' }) }
  const driver = {
    files: plain as unknown as DriverFiles,
    exec: async (argv: readonly string[], options: object) => {
      commands.push([...argv.slice(0, 4), JSON.stringify(options)])
      if (said === undefined) throw new Error('lost')
      return { stdout: { bytes: new Uint8Array(Buffer.from(`${said}\n`)) } }
    },
  } as unknown as SandboxDriver
  const ref = { sandbox: 's', epoch: 'e7', seenMs: START_MS, snapshot: null } as SandboxRef
  const parts = { driver, ref, capabilities, clock, logger: noopLogger, callTimeoutMs: 5000 }
  return { clock, commands, driver, sandbox: new LiveSandbox(parts) }
}

/** A call that fails with these errors first. */
function failing(...errors: readonly unknown[]) {
  const left = [...errors]
  const seen = { count: 0 }
  const run = async (): Promise<string> => {
    seen.count += 1
    const error = left.shift()
    if (error !== undefined) throw error
    return 'done'
  }
  return { run, seen }
}

describe('a call', () => {
  it('gets the driver, and gives what that gives', async () => {
    const { driver, sandbox } = live()
    expect(await sandbox.call(async (given) => given)).toBe(driver)
    expect(await sandbox.callFile('/f', async (given) => given)).toBe(driver)
  })
  it('has errors that name its path', async () => {
    const { sandbox } = live()
    const denied = new DriverError('denied', 'x', { admitted: 'yes' })
    const error = { code: 'permission-denied', cause: denied }
    await expect(sandbox.callFile('/d/f', failing(denied).run)).rejects.toMatchObject({
      ...error,
      path: '/d/f',
    })
    await expect(sandbox.call(failing(denied).run)).rejects.toMatchObject({ ...error, path: '/' })
    const other = new Error('x')
    await expect(sandbox.call(failing(other).run)).rejects.toBe(other)
  })
  it.each([
    [{}, 5000],
    [{ timeoutMs: 70 }, 70],
  ])('with %j ends after %d ms', async (options, timeMs) => {
    const { clock, sandbox } = live()
    const ended = sandbox
      .call(() => new Promise(() => {}), options)
      .catch((error: unknown) => error)
    await clock.advance(timeMs - 1)
    expect(clock.pendingTimers).toBe(1)
    await clock.advance(1)
    expect(await ended).toMatchObject({
      code: 'evicted',
      admitted: 'unknown',
      cause: { code: 'interrupted', message: 'no answer' },
    })
  })
  it('that is over leaves no timer, and one without end has none', async () => {
    const { clock, sandbox } = live()
    await sandbox.call(failing().run)
    await sandbox.call(failing(new Error('x')).run).catch(() => undefined)
    expect(clock.pendingTimers).toBe(0)
    void sandbox.call(() => new Promise(() => {}), { timeoutMs: Infinity })
    await clock.advance(0)
    expect(clock.pendingTimers).toBe(0)
  })
  it('after the end is none', async () => {
    const { sandbox } = live()
    sandbox.close()
    const { run, seen } = failing()
    const closed = { code: 'closed', message: 'the workspace is closed' }
    await expect(sandbox.call(run)).rejects.toMatchObject(closed)
    expect(() => sandbox.callFile('/f', run)).toThrow(expect.objectContaining(closed))
    expect(seen.count).toBe(0)
  })
  it('on files waits while sixteen are under way', async () => {
    const { sandbox } = live()
    const started: (() => void)[] = []
    const all = Array.from({ length: 18 }, () =>
      sandbox.callFile('/f', () => new Promise<void>((resolve) => started.push(resolve))),
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(started).toHaveLength(16)
    for (let index = 0; index < 18; index += 1) {
      started[index]?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(all)
    expect(started).toHaveLength(18)
  })
  it('may reject links', async () => {
    const { sandbox } = live()
    const strict = sandbox.withoutLinks()
    expect(await strict.callFile('/f', async ({ files }) => files)).toEqual({ name: 'strict' })
    expect(await strict.call(async ({ files }) => files)).toEqual({ name: 'strict' })
    const denied = new DriverError('denied', 'x', { admitted: 'yes' })
    const called = strict.call(failing(denied).run, { path: '/g' })
    await expect(called).rejects.toMatchObject({ path: '/g' })
    await expect(strict.callFile('/h', failing(denied).run)).rejects.toMatchObject({ path: '/h' })
  })
})

describe('a root that is gone', () => {
  it('is made again, and what did not run is run', async () => {
    const { commands, sandbox } = live('made')
    const { run, seen } = failing(missing())
    expect([await sandbox.call(run), seen.count]).toEqual(['done', 2])
    const options = { cwd: '/', timeoutMs: 10_000, maxOutputBytes: 4096 }
    expect(commands).toEqual([
      ['bash', '--noprofile', '--norc', '-c', expect.stringContaining('"cwd"') as string],
    ])
    expect(JSON.parse(commands[0]?.at(-1) ?? '')).toMatchObject(options)
  })
  it.each([
    ['made', 'yes'],
    ['made', 'unknown'],
    ['fine', 'no'],
    ['odd', 'no'],
    [undefined, 'no'],
  ] as const)('said to be %s after a call that ran (%s) is the error', async (said, admitted) => {
    const { run, seen } = failing(missing(admitted))
    await expect(live(said).sandbox.call(run)).rejects.toMatchObject({
      code: 'working-directory-missing',
      message: 'the working directory is missing or not a directory',
    })
    expect(seen.count).toBe(1)
  })
  it('is asked about once', async () => {
    const { commands, sandbox } = live('made')
    const { run, seen } = failing(missing(), missing())
    await expect(sandbox.call(run)).rejects.toMatchObject({ code: 'working-directory-missing' })
    expect([seen.count, commands.length]).toEqual([2, 1])
  })
  it('and was replaced is told, with where that is now', async () => {
    const error = missing()
    const { run, seen } = failing(error)
    await expect(live('/workspace.3').sandbox.call(run)).rejects.toMatchObject({
      code: 'working-directory-missing',
      message: 'a file or a link to nowhere was in the place of the workspace directory',
      hint: expect.stringContaining('moved to /workspace.3,') as string,
      cause: error,
    })
    expect(seen.count).toBe(1)
  })
  it('is not asked about after other errors', async () => {
    const { commands, sandbox } = live('made')
    const denied = new DriverError('denied', 'x', { admitted: 'no' })
    await expect(sandbox.call(failing(denied).run)).rejects.toMatchObject({ cause: denied })
    expect(commands).toEqual([])
  })
})

describe('what is stored of a sandbox', () => {
  it('says every five minutes when it was last seen', async () => {
    const { clock, sandbox } = live()
    await clock.advance(299_999)
    await sandbox.call(failing().run)
    expect([sandbox.ref.seenMs, sandbox.changedRef]).toEqual([START_MS, undefined])
    await clock.advance(1)
    await sandbox.call(failing(new Error('x')).run).catch(() => undefined)
    expect(sandbox.changedRef).toBeUndefined()
    await sandbox.call(failing().run)
    expect(sandbox.ref.seenMs).toBe(START_MS + 300_000)
    expect(sandbox.changedRef).toMatchObject({ capabilities, ref: sandbox.ref })
  })
  it('has the last snapshot', () => {
    const { sandbox } = live()
    const snapshot = { takenAtMs: 1 } as StoredSnapshot
    sandbox.recordSnapshot(snapshot)
    expect(sandbox.ref).toEqual({ sandbox: 's', epoch: 'e7', seenMs: START_MS, snapshot })
    expect(sandbox.changedRef?.ref).toEqual(sandbox.ref)
  })
  it('names the container that may answer', () => {
    const { sandbox } = live()
    sandbox.assertEpoch('e7')
    sandbox.assertEpoch(null)
    expect(() => sandbox.assertEpoch('e8')).toThrow('the container was replaced')
  })
})
