import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeConfigSchema } from '@helix-agents/core/provider'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashSession, readOwner, writeOwner } from '../src/owner.ts'
import { toRef } from '../src/ref.ts'
import { readProcess } from '../src/shell/processes/process-table.ts'
import { SESSION, TestHost, text } from './open-workspace.ts'

let host: TestHost
let ws: LocalBashWorkspace
beforeEach(async () => {
  host = new TestHost({ containment: 'scan' })
  ws = (await host.open()).ws
})
afterEach(() => host.dispose())

const pathOf = (of: LocalBashWorkspace): string => join(host.tmpdirRoot, of.id)
const refOf = (of: LocalBashWorkspace) => toRef({ directory: of.id, isolation: 'none' })
const DEAD = { pid: 1, startTime: 1, bootId: 'of an earlier start' }

/** Gives the marker of a workspace other fields; undefined leaves one out. */
function remark(of: LocalBashWorkspace, more: object): void {
  const marker = { ...readOwner(pathOf(of)), ...more }
  writeOwner(pathOf(of), JSON.parse(JSON.stringify(marker)))
}

describe('an open that fails', () => {
  it('leaves no directory', async () => {
    const before = readdirSync(host.tmpdirRoot)
    const capabilities = { code: codeConfigSchema.parse({ languages: ['ruby'] }) }
    const open = host.provider.open({ kind: 'local-bash' }, SESSION, {
      ...host.openOptions,
      capabilities,
    })
    await expect(open).rejects.toMatchObject({ code: 'capability-missing' })
    expect(readdirSync(host.tmpdirRoot)).toEqual(before)
  })
  it('is one that is aborted, and so is a resolve', async () => {
    const options = { ...host.openOptions, signal: AbortSignal.abort(new Error('stopped')) }
    const before = readdirSync(host.tmpdirRoot)
    await expect(host.provider.open({ kind: 'local-bash' }, SESSION, options)).rejects.toThrow(
      'stopped',
    )
    await expect(
      host.provider.resolve(refOf(ws), { ...options, session: SESSION }),
    ).rejects.toThrow('stopped')
    expect(readdirSync(host.tmpdirRoot)).toEqual(before)
  })
})

describe('commands', () => {
  it('in a directory that is missing do not begin', async () => {
    const missing = {
      code: 'working-directory-missing',
      message: 'the working directory /no is missing or not a directory',
      hint: 'Make the directory, or run the command in another one.',
    }
    await expect(ws.shell.run('true', { cwd: '/no' })).rejects.toMatchObject(missing)
    await expect(ws.shell.start('true', { cwd: '/no' })).rejects.toMatchObject(missing)
    expect(await ws.shell.list()).toEqual([])
    await expect(ws.shell.run('true', { cwd: '/../..' })).rejects.toMatchObject({
      code: 'path-escape',
    })
  })
  it('of which an output cannot be stored say nothing of a path, and the log does', async () => {
    writeFileSync(join(ws.shellRoot, '.helix'), 'in the way')
    const { stdoutCut } = await ws.shell.run('seq 1 100', { maxOutputBytes: 10 })
    expect(stdoutCut).toEqual({ totalBytes: 292, headBytes: 1 })
    expect(host.logger.with('output of a command could not be stored')).toEqual([
      {
        level: 'warn',
        message: 'output of a command could not be stored',
        fields: {
          err: expect.objectContaining({ code: 'not-directory' }),
          path: expect.stringMatching(/^\/\.helix\/output\/[0-9a-f]{18}\.stdout$/),
        },
      },
    ])
    expect(readdirSync(join(pathOf(ws), 'scratch')).toSorted()).toEqual(['pipes'])
  })
  it('are none once the workspace is closed', async () => {
    await ws.close()
    const closed = { code: 'closed', message: 'the workspace is closed' }
    await expect(ws.shell.run('true')).rejects.toMatchObject(closed)
    await expect(ws.shell.start('true')).rejects.toMatchObject(closed)
    const sinks = [() => {}, () => {}] as const
    await expect(ws.shell.startChannelProcess(['true'], sinks)).rejects.toMatchObject(closed)
    await expect(ws.shell.output('p9')).rejects.toMatchObject({ code: 'invalid-input' })
    await expect(ws.shell.kill('p9')).rejects.toMatchObject({ code: 'invalid-input' })
  })
})

describe('a workspace that is left', () => {
  it('is detached once, without its owner, and its files stay', async () => {
    await ws.fs.writeFile('/kept', 'x')
    await ws.detach()
    const marker = readOwner(pathOf(ws))
    expect(marker).toMatchObject({ session: hashSession(SESSION.sessionId), isolation: 'none' })
    expect(marker).not.toHaveProperty('process')
    await ws.detach()
    expect(readOwner(pathOf(ws))).toEqual(marker)
    await ws.close()
    expect(existsSync(pathOf(ws))).toBe(false)
  })
  it('is not written to when it is gone, or another process owns it', async () => {
    remark(ws, { process: DEAD })
    const marker = readOwner(pathOf(ws))
    await ws.detach()
    expect(readOwner(pathOf(ws))).toEqual(marker)
    const { ws: gone } = await host.open()
    rmSync(pathOf(gone), { recursive: true })
    await gone.detach()
    expect(existsSync(pathOf(gone))).toBe(false)
  })
  it('is ended by close, whatever came before', async () => {
    await ws.close()
    await ws.detach()
    await ws.close()
    expect(readdirSync(host.tmpdirRoot)).toEqual([])
    expect(host.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
  })
})

const release = (of: LocalBashWorkspace, sessionId = SESSION.sessionId): Promise<void> =>
  host.provider.release(refOf(of), host.resolveOptions(sessionId))

describe('a ref that is released', () => {
  it('removes its workspace, also that of a dead owner, and what is gone is fine', async () => {
    await release(ws)
    await release(ws)
    expect(existsSync(pathOf(ws))).toBe(false)
    const { ws: left } = await host.open()
    remark(left, { process: DEAD })
    await release(left)
    expect(existsSync(pathOf(left))).toBe(false)
  })
  it('is one of its session', async () => {
    await expect(release(ws, 'other')).rejects.toMatchObject({
      code: 'ref-invalid',
      message: 'the ref is of another session',
    })
    remark(ws, { session: undefined })
    await release(ws, 'other')
    expect(existsSync(pathOf(ws))).toBe(false)
  })
  it('is not one that another process uses, or may use', async () => {
    const { process: own } = readOwner(pathOf(ws)) ?? {}
    const startTime = readProcess(1)?.startTime
    for (const other of [
      { ...own, pid: 1, startTime },
      { ...DEAD, place: 'another-host' },
    ]) {
      remark(ws, { process: other })
      await expect(release(ws)).rejects.toMatchObject({
        code: 'provider-failed',
        message: 'another process uses the workspace',
        transient: true,
      })
    }
    expect(existsSync(pathOf(ws))).toBe(true)
  })
})

describe('the history of a session', () => {
  const { sessionId } = SESSION
  it('lists its workspaces, those of older releases with the most isolation', async () => {
    const { ws: older } = await host.open()
    remark(older, { isolation: undefined })
    const { ws: other } = await host.open()
    remark(other, { session: hashSession('other') })
    const { workspaces, snapshots } = await host.provider.history.list(sessionId)
    expect(snapshots).toEqual([])
    expect(workspaces).toEqual(
      expect.arrayContaining([refOf(ws), toRef({ directory: older.id, isolation: 'bubblewrap' })]),
    )
    expect(workspaces).toHaveLength(2)
  })
  it('restores its kept snapshots, with the environment that is declared', async () => {
    await ws.fs.writeFile('/f', 'kept')
    const taken = await ws.snapshot.snapshot({ keep: true })
    expect((await host.provider.history.list(sessionId)).snapshots).toEqual([taken])
    const config = { kind: 'local-bash', env: { OF_CONFIG: 'yes' } }
    const options = { ...host.resolveOptions(), config }
    const restored = await host.resolve(await host.provider.history.restore(taken, options))
    const { stdout } = await restored.ws.shell.run('cat f; echo $OF_CONFIG')
    expect(text(stdout)).toBe('keptyes\n')
    const elsewhere = { ...options, session: { ...SESSION, sessionId: 'other' } }
    await expect(host.provider.history.restore(taken, elsewhere)).rejects.toMatchObject({
      code: 'cross-session',
      hint: 'Restore a snapshot that this session took.',
    })
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(host.provider.history.restore(taken, { ...options, signal })).rejects.toThrow(
      'stopped',
    )
    await host.provider.history.remove(taken)
    await expect(host.provider.history.restore(taken, options)).rejects.toMatchObject({
      code: 'provider-failed',
      message: 'there is no such snapshot',
      hint: 'The last 16 of a workspace are kept, fewer of large files. Take a new one.',
    })
    expect((await host.provider.history.list(sessionId)).snapshots).toEqual([])
  })
  it('of which a block is missing cannot be restored, and says which file', async () => {
    await ws.fs.writeFile('/f', 'lost')
    const taken = await ws.snapshot.snapshot({ keep: true })
    const store = join(host.tmpdirRoot, `helix-snapshots-${process.getuid?.()}`)
    const [scope = ''] = readdirSync(store)
    rmSync(join(store, scope, 'blocks'), { recursive: true })
    mkdirSync(join(store, scope, 'blocks'))
    const options = { ...host.resolveOptions(), config: { kind: 'local-bash' } }
    const before = readdirSync(host.tmpdirRoot)
    await expect(host.provider.history.restore(taken, options)).rejects.toMatchObject({
      code: 'provider-failed',
      message: expect.stringContaining('the content of /f is missing'),
      cause: expect.objectContaining({ code: 'missing-blocks' }),
    })
    expect(readdirSync(host.tmpdirRoot)).toEqual(before)
  })
})
