import { Buffer } from 'node:buffer'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packTar, type TarEntry, type TarHeader } from 'modern-tar'
import { expect, test } from 'vitest'
import { importTar } from '../../src/index.ts'
import { identity, newSource } from '../sample-tree.ts'

const limits = { maxEntries: 100, maxTotalBytes: 100_000 }

async function importBytes(...archive: readonly Uint8Array[]): Promise<unknown> {
  const target = newSource()
  const failed = await importTar(ReadableStream.from(archive), target, { identity, limits }).then(
    () => undefined,
    (error: unknown) => error,
  )
  // Nothing is half made.
  expect(target.store.manifests.size).toBe(failed === undefined ? 1 : 0)
  return failed
}

const file = (name: string, body = 'x', more: Partial<TarHeader> = {}): TarEntry => ({
  header: { name, size: Buffer.byteLength(body), ...more },
  body,
})
const entry = (name: string, type: TarHeader['type'], linkname?: string): TarEntry => ({
  header: { name, size: 0, ...(type && { type }), ...(linkname !== undefined && { linkname }) },
})

const rejected: readonly (readonly [string, string, readonly TarEntry[]])[] = [
  ['an absolute name', 'path-escape', [file('/etc/passwd')]],
  ['a name that climbs', 'path-escape', [file('a/../../b')]],
  ['a name that climbs and comes back', 'path-escape', [file('../box/b')]],
  ['a long name that climbs', 'path-escape', [file('x', 'x', { pax: { path: '../b' } })]],
  ['a NUL in a name', 'invalid-archive', [file('x', 'x', { pax: { path: 'a\0b' } })]],
  ['a link out', 'link-escape', [entry('a', 'symlink', '../b')]],
  ['an absolute link', 'link-escape', [entry('a', 'symlink', '/etc')]],
  ['a link that climbs later', 'link-escape', [entry('a', 'symlink', 'b/../../c')]],
  ['an empty link', 'link-escape', [entry('a', 'symlink', '')]],
  ['a file behind a link', 'link-escape', [entry('a', 'symlink', 'b'), file('a/c')]],
  ['a link over a directory', 'duplicate-path', [file('a/c'), entry('a', 'symlink', 'b')]],
  ['a name twice', 'duplicate-path', [file('a'), file('./a', 'y')]],
  ['a directory twice', 'duplicate-path', [entry('a/', 'directory'), entry('a', 'directory')]],
  ['a file as the root', 'duplicate-path', [file('.')]],
  ['a file below a file', 'duplicate-path', [file('a'), file('a/b')]],
  ['a hard link', 'unsupported-entry', [file('a'), entry('b', 'link', 'a')]],
  ['a device', 'unsupported-entry', [entry('a', 'character-device')]],
  ['a pipe', 'unsupported-entry', [entry('a', 'fifo')]],
  ['a sparse file', 'unsupported-entry', [file('a', 'x', { pax: { 'GNU.sparse.major': '1' } })]],
  ['a size elsewhere', 'unsupported-entry', [file('a', 'xyz', { pax: { size: '3' } })]],
  ['too many bytes', 'too-large', [file('a', 'x'.repeat(60_000)), file('b', 'x'.repeat(60_000))]],
  ['a large file', 'too-large', [file('a', 'x'.repeat(200_000))]],
  ['too many entries', 'too-large', Array.from({ length: 101 }, (_, at) => file(`f${at}`))],
  ['too many parents', 'too-large', [file(`${'d/'.repeat(101)}f`)]],
  ['a name too deep', 'invalid-archive', [file(`${'d/'.repeat(300)}f`)]],
  ['a long extended header', 'too-large', [file('a', 'x', { pax: { x: 'y'.repeat(1_100_000) } })]],
]

test.each(rejected)('%s is %s', async (_, code, entries) => {
  expect(await importBytes(await packTar(entries))).toMatchObject({
    name: 'SnapshotArchiveError',
    code,
  })
})

/** Changes bytes of the first header and mends its checksum. */
async function forged(at: number, bytes: string, entries = [file('a')]): Promise<Uint8Array> {
  const archive = await packTar(entries)
  archive.set(Buffer.from(bytes, 'latin1'), at)
  archive.fill(32, 148, 156)
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  archive.set(Buffer.from(`${sum.toString(8).padStart(6, '0')}\0 `), 148)
  return archive
}

test.each([
  ['a kind that decoders take for a file', 156, 'S', 'unsupported-entry'],
  ['a part of several volumes', 156, 'M', 'unsupported-entry'],
  ['a size past all limits', 124, '77777777777\0', 'too-large'],
  ['a size past all numbers', 124, '\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', 'too-large'],
  ['a size that is no number', 124, '-0000000001\0', 'invalid-archive'],
  ['a directory with content', 156, '5', 'invalid-archive'],
  ['a name that is not UTF-8', 0, '\xff', 'invalid-archive'],
  ['a header without a name', 0, '\0', 'invalid-archive'],
])('%s is rejected', async (_, at, bytes, code) => {
  expect(await importBytes(await forged(at, bytes))).toMatchObject({ code })
})

test('a hard link says how to pack without it', async () => {
  const archive = await packTar([file('a'), entry('b', 'link', 'a')])
  expect(await importBytes(archive)).toMatchObject({ hint: 'Pack it with tar --hard-dereference.' })
})

test('a changed byte of a header, and an archive cut anywhere, are invalid', async () => {
  const archive = await packTar([file('a', 'x'.repeat(700)), file('b')])
  const changed = archive.slice()
  changed[3] = 65
  expect(await importBytes(changed)).toMatchObject({ code: 'invalid-archive' })
  for (let end = 100; end < archive.length; end += 99) {
    const failed = await importBytes(archive.subarray(0, end))
    expect([end, failed]).toMatchObject([end, { code: 'invalid-archive' }])
  }
})

test('whatever the chunks are, the result is the same', async () => {
  const archive = await packTar([file('a', 'x'.repeat(700)), entry('d/', 'directory'), file('d/b')])
  const bytes = Array.from(archive, (_, at) => archive.subarray(at, at + 1))
  expect(await importBytes(...bytes)).toBeUndefined()
  expect(await importBytes(archive)).toBeUndefined()
})

test('text, noise and data behind the end are invalid', async () => {
  expect(await importBytes(Buffer.from('hello'.repeat(300)))).toMatchObject({
    code: 'invalid-archive',
  })
  const archive = await packTar([file('a')])
  expect(await importBytes(archive, Buffer.from('more'))).toMatchObject({ code: 'invalid-archive' })
})

test('an endless archive of headers ends', async () => {
  const [header] = [
    (await packTar([file('a', 'x', { pax: { x: 'y'.repeat(900) } })])).subarray(0, 1536),
  ]
  let pulled = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled += 1
      controller.enqueue(header)
    },
  })
  const target = newSource()
  await expect(importTar(endless, target, { identity, limits })).rejects.toMatchObject({
    code: 'too-large',
  })
  expect(pulled).toBeLessThan(2000)
})

test('a sparse file of GNU tar is rejected, in either form', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'helix-archive-'))
  try {
    execFileSync('truncate', ['-s', '90K', join(folder, 'sparse')])
    for (const format of ['gnu', 'pax']) {
      const archive = execFileSync('tar', [
        '-S',
        `--format=${format}`,
        '-C',
        folder,
        '-c',
        'sparse',
      ])
      expect(await importBytes(archive)).toMatchObject({ code: 'unsupported-entry' })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('an abort ends the import with its reason', async () => {
  const reason = new Error('enough')
  const target = newSource()
  const importing = importTar(new ReadableStream(), target, {
    identity,
    signal: AbortSignal.abort(reason),
  })
  await expect(importing).rejects.toBe(reason)
  expect(target.store.manifests.size).toBe(0)
})
