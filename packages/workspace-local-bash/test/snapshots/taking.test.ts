import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { digestEntries, sha256 } from '@helix-agents/core/provider'
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

/** Another content for the only file, in a newer snapshot. @returns its digest */
async function storeOther(content: string): Promise<string> {
  const store = subject.store
  const [line = ''] = (await store.listScopes()).items
  const [newest] = (await store.listManifests(line)).items
  const { header, entries } = await store.getManifest(line, newest?.snapshotId ?? '')
  const bytes = Buffer.from(content)
  const hash = await sha256(bytes)
  await store.putBlocks(line, [{ hash, bytes }])
  const other = entries.map((entry) => ({ ...entry, blocks: [hash] })) as typeof entries
  const digest = await digestEntries(other)
  const createdAt = header.createdAt + 1
  const made = { ...header, snapshotId: 'f'.repeat(32), createdAt, digest }
  await store.putManifest(line, { header: made, entries: other })
  return digest
}

describe('what a snapshot holds', () => {
  it('files, modes, links, empty directories and names of every kind', async () => {
    mkdirSync(join(root, 'empty'), { mode: 0o750 })
    mkdirSync(join(root, 'a'))
    for (const name of ['a.txt', 'a/x', 'a0', 'ü\n\t"\\', '\u{1f600}', '-rf', ' ']) {
      writeFileSync(join(root, name), name)
    }
    writeFileSync(join(root, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
    writeFileSync(join(root, 'secret'), '', { mode: 0o600 })
    mkdirSync(join(root, 'closed'))
    writeFileSync(join(root, 'closed/in'), 'x')
    chmodSync(join(root, 'closed'), 0o555)
    symlinkSync('../a.txt', join(root, 'a/up'))
    symlinkSync(join(root, 'a.txt'), join(root, 'a/absolute'))
    symlinkSync('nothing', join(root, 'dangling'))
    const copy = await subject.restored(await ws.snapshot.snapshot())
    for (const name of ['a.txt', 'a/x', 'a0', 'ü\n\t"\\', '\u{1f600}', '-rf', ' ']) {
      expect(readFileSync(join(copy, name), 'utf8')).toBe(name)
    }
    const modes = ['empty', 'run.sh', 'secret', 'closed'].map(
      (name) => statSync(join(copy, name)).mode & 0o777,
    )
    expect(modes).toEqual([0o750, 0o755, 0o600, 0o555])
    expect(readFileSync(join(copy, 'closed/in'), 'utf8')).toBe('x')
    const links = ['a/up', 'a/absolute', 'dangling'].map((name) => readlinkSync(join(copy, name)))
    expect(links).toEqual(['../a.txt', '../a.txt', 'nothing'])
  })

  it('names what it does not hold', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    symlinkSync('/etc/passwd', join(root, 'out'))
    symlinkSync('../../..', join(root, 'up'))
    writeFileSync(Buffer.from(`${root}/\xff`, 'latin1'), '')
    writeFileSync(join(root, 'one'), 'x')
    linkSync(join(root, 'one'), join(root, 'two'))
    const restored = await ws.snapshot.restore(await ws.snapshot.snapshot())
    const { opened } = await subject.host.resolve(restored)
    expect(readdirSync(opened.ws.shellRoot ?? '').toSorted()).toEqual(['one', 'two'])
    expect(opened.receipt).toEqual({
      outcome: 'reattached',
      detail: expect.stringMatching(
        /not hold as they were: link "\/out", "\/up" \(2\); special-file "\/pipe" \(1\); hard-link "\/two" \(1\); path .+ \(1\)\.$/,
      ),
    })
    await opened.ws.detach?.()
    expect((await subject.host.resolve(restored)).opened.receipt).toEqual({ outcome: 'reattached' })
    const [line] = subject.host.logger.lines.filter(({ message }) => message.includes('not hold'))
    expect(line?.fields).toMatchObject({
      losses: [
        { kind: 'link', count: 2, paths: ['/out', '/up'] },
        { kind: 'special-file', count: 1, paths: ['/pipe'] },
        { kind: 'hard-link', count: 1, paths: ['/two'] },
        { kind: 'path', count: 1 },
      ],
    })
  })

  it('large and sparse files; zeros come back as holes', async () => {
    writeFileSync(join(root, 'sparse'), '')
    truncateSync(join(root, 'sparse'), 40 * 2 ** 20 + 3)
    writeFileSync(join(root, 'large'), Buffer.alloc(9 * 2 ** 20 + 1, 'abc'))
    const copy = await subject.restored(await ws.snapshot.snapshot())
    expect(statSync(join(copy, 'sparse')).size).toBe(40 * 2 ** 20 + 3)
    expect(statSync(join(copy, 'sparse')).blocks * 512).toBeLessThan(2 ** 20)
    expect(readFileSync(join(copy, 'large')).equals(Buffer.alloc(9 * 2 ** 20 + 1, 'abc'))).toBe(
      true,
    )
  })
})

describe('what is not read again', () => {
  it('only what changed is stored, whatever its times say', async () => {
    writeFileSync(join(root, 'same'), 'same')
    writeFileSync(join(root, 'sneaky'), 'old')
    const { mtime, atime } = statSync(join(root, 'sneaky'))
    await ws.snapshot.snapshot()
    const count = subject.blocks.length
    writeFileSync(join(root, 'sneaky'), 'new')
    utimesSync(join(root, 'sneaky'), atime, mtime)
    const second = await ws.snapshot.snapshot()
    expect(subject.blocks.length).toBe(count + 1)
    expect(readFileSync(join(await subject.restored(second), 'sneaky'), 'utf8')).toBe('new')
  })

  it('a file that did not change is not read, neither by another process', async () => {
    writeFileSync(join(root, 'kept'), 'content')
    const first = await ws.snapshot.snapshot()
    for (const path of subject.blocks) rmSync(path)
    expect(payloadOf(await ws.snapshot.snapshot()).digest).toBe(payloadOf(first).digest)
    // Were it read, it would have been stored again.
    expect(subject.blocks).toEqual([])
    const changed = await storeOther('CONTENT')
    expect(payloadOf(await (await subject.reopened()).snapshot.snapshot()).digest).toBe(changed)
  })

  it('a change that only the mode shows is seen', async () => {
    writeFileSync(join(root, 'f'), 'x', { mode: 0o600 })
    const first = await ws.snapshot.snapshot()
    chmodSync(join(root, 'f'), 0o755)
    const second = await ws.snapshot.snapshot()
    expect(payloadOf(second).digest).not.toBe(payloadOf(first).digest)
    expect(statSync(join(await subject.restored(first), 'f')).mode & 0o777).toBe(0o600)
  })

  it('names that changed places are found', async () => {
    for (const name of ['a', 'b']) writeFileSync(join(root, name), name)
    await ws.snapshot.snapshot()
    renameSync(join(root, 'a'), join(root, 'c'))
    renameSync(join(root, 'b'), join(root, 'a'))
    renameSync(join(root, 'c'), join(root, 'b'))
    const copy = await subject.restored(await ws.snapshot.snapshot())
    expect(['a', 'b'].map((name) => readFileSync(join(copy, name), 'utf8'))).toEqual(['b', 'a'])
  })
})
