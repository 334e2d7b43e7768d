import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { LocalBashWorkspace } from '@helix-agents/workspace-local-bash/parts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { payloadOf, SnapshotSubject } from './snapshot-subject.ts'

let subject: SnapshotSubject
let ws: LocalBashWorkspace
let root: string
beforeEach(async () => {
  subject = await SnapshotSubject.create()
  ;({ ws, root } = subject)
})
afterEach(() => subject.host.dispose())

describe('damage and forgery', () => {
  it('a block with other bytes is corrupt, and no workspace is left', async () => {
    writeFileSync(join(root, 'f'), 'content')
    const taken = await ws.snapshot.snapshot()
    const before = subject.workspaces
    writeFileSync(subject.blocks[0] ?? '', 'CONTENT')
    await expect(ws.snapshot.restore(taken)).rejects.toMatchObject({ code: 'corrupt' })
    rmSync(subject.blocks[0] ?? '')
    await expect(ws.snapshot.restore(taken)).rejects.toMatchObject({
      code: 'missing-blocks',
      message: expect.stringContaining('/f'),
    })
    expect(subject.workspaces).toEqual(before)
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('content')
  })

  it('a block that was replaced by a link is corrupt', async () => {
    writeFileSync(join(root, 'f'), 'content')
    const taken = await ws.snapshot.snapshot()
    const [block = ''] = subject.blocks
    rmSync(block)
    symlinkSync(join(root, 'f'), block)
    await expect(ws.snapshot.restore(taken)).rejects.toMatchObject({ code: 'corrupt' })
  })

  it('a manifest that matches itself but not the ref is corrupt', async () => {
    writeFileSync(join(root, 'f'), 'good')
    const first = await ws.snapshot.snapshot()
    writeFileSync(join(root, 'f'), 'evil')
    const second = await ws.snapshot.snapshot()
    const [evil = '', good = ''] = [payloadOf(second).id, payloadOf(first).id].map(
      (id) => subject.stored(new RegExp(`${id}$`))[0],
    )
    writeFileSync(
      good,
      readFileSync(evil, 'utf8').replaceAll(payloadOf(second).id, payloadOf(first).id),
    )
    await expect(ws.snapshot.restore(first)).rejects.toMatchObject({ code: 'corrupt' })
  })

  it('the hash of a content of another workspace gives nothing', async () => {
    writeFileSync(join(root, 'secret'), 'theirs')
    const taken = await ws.snapshot.snapshot()
    const mine = await subject.host.open()
    const own = await mine.ws.snapshot.snapshot()
    const forged = { ...own, ref: { ...payloadOf(own), schemaVersion: 1, id: payloadOf(taken).id } }
    await expect(mine.ws.snapshot.restore(forged)).rejects.toMatchObject({
      code: 'provider-failed',
    })
    const [entry] = (await subject.manifestOf(taken)).entries
    const store = subject.store
    const hashes = entry?.type === 'file' ? entry.blocks : []
    expect(hashes).toHaveLength(1)
    expect((await store.getBlocks(payloadOf(own).line, hashes)).size).toBe(0)
  })

  it('commands with bubblewrap do not see the store', async () => {
    await ws.snapshot.snapshot()
    const boxed = await subject.host.open({ isolation: 'bubblewrap' })
    const { exitCode } = await boxed.ws.shell.run(['ls', subject.storeDirectory])
    expect(exitCode).not.toBe(0)
  })

  it('file tools do not reach the store', async () => {
    await ws.snapshot.snapshot()
    symlinkSync(subject.storeDirectory, join(root, 'store'))
    await expect(ws.fs.ls('/store')).rejects.toMatchObject({ code: 'path-escape' })
    await expect(ws.fs.ls('/../../helix-snapshots')).rejects.toMatchObject({
      code: 'path-escape',
    })
  })
})

describe('while commands run', () => {
  it('directories that become links do not lead the walk out', async () => {
    const decoy = join(subject.host.tmpdirRoot, 'decoy')
    mkdirSync(decoy)
    for (let n = 0; n < 50; n += 1) writeFileSync(join(decoy, `f${n}`), 'STOLEN')
    mkdirSync(join(root, 'd'))
    for (let n = 0; n < 50; n += 1) writeFileSync(join(root, 'd', `f${n}`), `own ${n}`)
    const swap = `while :; do mv d e; ln -s ${decoy} d; rm d; mv e d; done`
    const running = await ws.shell.start(swap)
    for (let n = 0; n < 15; n += 1) {
      const { line } = payloadOf(await ws.snapshot.snapshot())
      expect(line).toMatch(/^[0-9a-f]{32}$/)
    }
    await ws.shell.kill(running.id)
    const contents = subject.blocks.map((path) => readFileSync(path, 'utf8'))
    expect(contents.filter((text) => text.includes('STOLEN'))).toEqual([])
    expect(contents.length).toBeGreaterThanOrEqual(50)
  })

  it('a file that is replaced all the time is stored as it was at one moment', async () => {
    writeFileSync(join(root, 'f'), 'a'.repeat(5000))
    const replace = 'while :; do for c in a b; do printf "$c%.0s" {1..5000} > t; mv t f; done; done'
    const running = await ws.shell.start(replace)
    for (let n = 0; n < 10; n += 1) await ws.snapshot.snapshot()
    await ws.shell.kill(running.id)
    const manifests = subject.stored(/manifests\/\d/).map((path) => path.slice(-32))
    const { line } = payloadOf(await ws.snapshot.snapshot())
    const store = subject.store
    for (const id of manifests) {
      const entry = (await store.getManifest(line, id)).entries.find(({ path }) => path === '/f')
      const hashes = entry?.type === 'file' ? entry.blocks : []
      for (const bytes of (await store.getBlocks(line, hashes)).values()) {
        expect(new Set(bytes).size).toBe(1)
        expect(bytes.length).toBe(5000)
      }
    }
  })

  it('a log that grows is stored up to some moment', async () => {
    const running = await ws.shell.start('while :; do echo line >> log; done')
    appendFileSync(join(root, 'log'), 'line\n')
    const copy = await subject.restored(await ws.snapshot.snapshot())
    await ws.shell.kill(running.id)
    expect(readFileSync(join(copy, 'log'), 'utf8')).toMatch(/^(line\n)*(l|li|lin|line)?$/)
  })
})
