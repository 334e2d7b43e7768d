import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type SnapshotRef, type WorkspaceRef } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import { reapLocalBashTmpdirs } from '@helix-agents/workspace-local-bash'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SESSION, TestHost } from '../open-workspace.ts'

import { payloadOf, SnapshotSubject } from './snapshot-subject.ts'

let subject: SnapshotSubject
let ws: LocalBashWorkspace
let root: string
beforeEach(async () => {
  subject = await SnapshotSubject.create()
  ;({ ws, root } = subject)
})
afterEach(() => subject.host.dispose())

describe('what is kept, and what is freed', () => {
  it('the last maxSnapshots, and the contents that these name', async () => {
    const small = new TestHost({
      snapshots: { directory: subject.storeDirectory, maxSnapshots: 2 },
      // It stands still: only the order of the snapshots says which is the oldest.
      clock: new ManualClock(Date.now()),
    })
    const { ws: mine } = await small.open()
    const refs: SnapshotRef[] = []
    for (let n = 0; n < 12; n += 1) {
      writeFileSync(join(mine.shellRoot, 'f'), `content ${n}`)
      refs.push(await mine.snapshot.snapshot())
    }
    await expect(mine.snapshot.restore(refs[9] as SnapshotRef)).rejects.toMatchObject({
      code: 'provider-failed',
    })
    await mine.snapshot.restore(refs[10] as SnapshotRef)
    await small.dispose()
  })

  it('all of it, while a stored snapshot is damaged: what that one names is not known', async () => {
    const clock = new ManualClock(Date.now())
    const snapshots = { directory: subject.storeDirectory, maxSnapshots: 2 }
    const small = new TestHost({ snapshots, clock })
    const { ws: mine } = await small.open()
    const take = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n += 1) {
        writeFileSync(join(mine.shellRoot, 'f'), `content ${n}`)
        await mine.snapshot.snapshot()
        await clock.advance(60_000)
      }
    }
    await take(0, 9)
    for (const path of subject.stored(/manifests\/\d{16}\./)) {
      writeFileSync(path, 'no entry of a manifest', { flag: 'a' })
    }
    await take(9, 10)
    expect(subject.blocks).toHaveLength(10)
    await take(10, 18)
    expect(subject.blocks.length).toBeLessThan(10)
    await small.dispose()
  })

  it('no more bytes than maxBytes: older ones go, and one that is larger alone is rejected', async () => {
    const small = new TestHost({
      snapshots: { directory: subject.storeDirectory, maxBytes: 10_000 },
    })
    const { ws: mine } = await small.open()
    const fill = (letter: string, bytes: number): void =>
      writeFileSync(join(mine.shellRoot, 'f'), letter.repeat(bytes))
    fill('a', 6000)
    const first = await mine.snapshot.snapshot()
    fill('b', 6000)
    const second = await mine.snapshot.snapshot()
    await expect(mine.snapshot.restore(first)).rejects.toMatchObject({ code: 'provider-failed' })
    expect(subject.blocks.map((path) => statSync(path).size)).toEqual([6000])
    fill('c', 20_000)
    await expect(mine.snapshot.snapshot()).rejects.toMatchObject({ code: 'storage-full' })
    await mine.snapshot.restore(second)
    await small.dispose()
  })

  it('closing frees the workspaces that the session has left, then the snapshots', async () => {
    writeFileSync(join(root, 'f'), 'x')
    const taken = await ws.snapshot.snapshot()
    const { ws: second } = await subject.host.resolve(await ws.snapshot.restore(taken))
    await ws.detach()
    const branch = await second.snapshot.restore(taken)
    await second.close()
    expect(subject.workspaces).toEqual([(branch.ref as { directory: string }).directory])
    expect(subject.blocks).toHaveLength(1)
    const { ws: third } = await subject.host.resolve(branch, 'session-2')
    expect(existsSync(join(third.shellRoot, 'f'))).toBe(true)
    await third.close()
    expect(subject.workspaces).toEqual([])
    expect(readdirSync(subject.storeDirectory)).toEqual([])
  })

  it('kept ones stay after the end of the workspace, until they are removed', async () => {
    const { history } = subject.host.provider
    writeFileSync(join(root, 'f'), 'kept')
    const kept = await ws.snapshot.snapshot({ keep: true })
    await ws.snapshot.snapshot()
    const { sessionId } = SESSION
    expect((await history.list(sessionId)).workspaces).toHaveLength(1)
    await ws.close()
    expect(await history.list(sessionId)).toEqual({ snapshots: [kept], workspaces: [] })
    const options = { ...subject.host.resolveOptions(), config: { kind: 'local-bash' } }
    const ref = await history.restore(kept, options)
    expect((await history.list(sessionId)).workspaces).toEqual([ref])
    const { ws: again } = await subject.host.resolve(ref)
    expect(readFileSync(join(again.shellRoot, 'f'), 'utf8')).toBe('kept')
    await again.detach()
    await subject.host.provider.release(ref, options)
    expect(subject.workspaces).toEqual([])
    await history.remove(kept)
    await history.remove(kept)
    expect(readdirSync(subject.storeDirectory)).toEqual([])
  })

  it('the reaper frees snapshots of which no workspace is left', async () => {
    writeFileSync(join(root, 'f'), 'x')
    const { line } = payloadOf(await ws.snapshot.snapshot())
    const options = { tmpdirRoot: subject.host.tmpdirRoot, graceMs: 0 }
    expect((await reapLocalBashTmpdirs(options)).snapshots).toEqual([])
    rmSync(join(subject.host.tmpdirRoot, ws.id), { recursive: true })
    const elsewhere = { ...options, snapshotDirectory: join(subject.host.tmpdirRoot, 'elsewhere') }
    expect((await reapLocalBashTmpdirs(elsewhere)).snapshots).toEqual([])
    expect((await reapLocalBashTmpdirs({ ...options, dryRun: true })).snapshots).toEqual([line])
    expect((await reapLocalBashTmpdirs({ ...options, graceMs: 60_000 })).snapshots).toEqual([])
    expect((await reapLocalBashTmpdirs(options)).snapshots).toEqual([line])
    expect(readdirSync(subject.storeDirectory)).toEqual([])
  })

  it('a fork that none has used yet is seen by the inventory, and by the reaper in time', async () => {
    const ref: WorkspaceRef = await ws.snapshot.restore(await ws.snapshot.snapshot())
    const { directory } = ref.ref as { directory: string }
    const options = { tmpdirRoot: subject.host.tmpdirRoot, graceMs: 0 }
    expect((await reapLocalBashTmpdirs(options)).waiting).toEqual([directory])
    const all = await reapLocalBashTmpdirs({ ...options, detachedGraceMs: 0 })
    expect(all.removed).toEqual([directory])
    expect(lstatSync(root).isDirectory()).toBe(true)
  })
})
