import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reapLocalBashTmpdirs } from '@helix-agents/workspace-local-bash'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { payloadOf, SnapshotSubject } from './snapshot-subject.ts'

let subject: SnapshotSubject
beforeEach(async () => void (subject = await SnapshotSubject.create()))
afterEach(() => subject.host.dispose())

describe('a process that is killed', () => {
  const points = ['findBlocks', 'putBlocks', 'putManifest', 'deleteManifest', 'getBlocks']
  it.each(points)('after %s leaves the old state or the new one', async (point) => {
    const { ws, root, host } = subject
    writeFileSync(join(root, 'f'), 'old')
    const taken = await ws.snapshot.snapshot()
    writeFileSync(join(root, 'f'), 'new')
    await ws.detach()
    const before = subject.workspaces
    const script = join(import.meta.dirname, 'killed-process.ts')
    const args = [host.tmpdirRoot, ws.id, point, JSON.stringify(taken)]
    const node = ['--conditions=@helix-agents/source', script, ...args]
    const { signal, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' })
    expect({ signal, stderr }).toMatchObject({ signal: 'SIGKILL' })

    const again = await subject.reopened()
    expect(readFileSync(join(again.shellRoot, 'f'), 'utf8')).toBe('new')
    const next = await again.snapshot.snapshot()
    const { ws: fork } = await host.resolve(await again.snapshot.restore(next))
    expect(readFileSync(join(fork.shellRoot, 'f'), 'utf8')).toBe('new')
    await fork.close()

    const { removed } = await reapLocalBashTmpdirs({ tmpdirRoot: host.tmpdirRoot, graceMs: 0 })
    expect(removed).toHaveLength(point === 'getBlocks' ? 1 : 0)
    expect(subject.workspaces).toEqual(before)
    await again.close()
    expect(readdirSync(subject.storeDirectory)).toEqual([])
  })
})

const holder = (bootId: string) =>
  JSON.stringify({ token: 'a'.repeat(32), process: { pid: 1, startTime: 1, bootId } })
const lockPath = (): string => join(subject.stored(/^[0-9a-f]{64}$/)[0] ?? '', 'lock')

describe('the lock of a store', () => {
  it('of a dead process is broken', async () => {
    const { ws, root } = subject
    await ws.snapshot.snapshot()
    writeFileSync(lockPath(), holder('of an earlier start'))
    writeFileSync(`${lockPath()}-${'a'.repeat(32)}`, holder('of an earlier start'))
    writeFileSync(join(root, 'f'), 'x')
    await ws.snapshot.snapshot()
    expect(subject.stored(/\/lock/)).toEqual([])
  })

  it('that is damaged is an error, and nothing is stored', async () => {
    const { ws, root } = subject
    const { line } = payloadOf(await ws.snapshot.snapshot())
    writeFileSync(lockPath(), 'damaged')
    writeFileSync(join(root, 'f'), 'x')
    await expect(ws.snapshot.snapshot()).rejects.toMatchObject({ code: 'corrupt' })
    expect((await subject.store.listManifests(line)).items).toHaveLength(1)
  })

  it('lets the snapshots of several workspaces of a line through, one after the other', async () => {
    const { ws, host, root } = subject
    writeFileSync(join(root, 'f'), 'x')
    const taken = await ws.snapshot.snapshot()
    const forks = [await ws.snapshot.restore(taken), await ws.snapshot.restore(taken)]
    const opened = await Promise.all(forks.map((ref) => host.resolve(ref)))
    const all = [ws, ...opened.map((one) => one.ws)]
    const refs = await Promise.all(all.map((one) => one.snapshot.snapshot()))
    expect(new Set(refs.map((ref) => payloadOf(ref).id)).size).toBe(3)
    expect(new Set(refs.map((ref) => payloadOf(ref).digest)).size).toBe(1)
  })
})
