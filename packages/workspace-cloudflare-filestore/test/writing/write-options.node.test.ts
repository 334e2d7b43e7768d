// What the options of a write forbid, however the file is stored: in Node, over its SQLite.
import type { FileSystem, WriteOptions } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { databaseFaults } from '../crash/audit.ts'
import { MapBucket } from '../map-bucket.ts'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'

/** Does something before it looks for an object, or takes one. */
class AskedBucket extends MapBucket {
  onAsked: (() => Promise<unknown>) | undefined

  override async head(...call: Parameters<MapBucket['head']>) {
    await this.#whenAsked()
    return super.head(...call)
  }

  override async put(...call: Parameters<MapBucket['put']>) {
    await this.#whenAsked()
    return super.put(...call)
  }

  async #whenAsked(): Promise<void> {
    const { onAsked } = this
    this.onAsked = undefined
    await onAsked?.()
  }
}

async function open() {
  const storage = new NodeStorage()
  const bucket = new AskedBucket()
  const provider = createProvider(storage, { r2: bucket, inlineThresholdBytes: 6, partBytes: 4 })
  const { ws } = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
  const fs = ws.fs as FileSystem
  await fs.writeFile('/known', 'old')
  await fs.mkdir('/d')
  return { storage, bucket, fs }
}

type Put = (fs: FileSystem, path: string, options?: WriteOptions) => Promise<{ version: string }>

const streamed =
  (text: string): Put =>
  (fs, path, options) =>
    fs.writeStream(path, new Blob([text]).stream() as ReadableStream<Uint8Array>, options)

const PUTS: Readonly<Record<string, Put>> = {
  small: (fs, path, options) => fs.writeFile(path, 'new', options),
  empty: (fs, path, options) => fs.writeFile(path, '', options),
  large: (fs, path, options) => fs.writeFile(path, 'a new one', options),
  'a small stream': streamed('new'),
  'a large stream': streamed('a new one'),
}

const textOf = async (fs: FileSystem, path: string): Promise<string> =>
  new TextDecoder().decode(await fs.readFile(path))

test.each(Object.entries(PUTS))('%s: what is forbidden is not done', async (_, put) => {
  const { storage, bucket, fs } = await open()
  const { version } = await fs.stat('/known')
  const refused = async (path: string, options: WriteOptions, code: string, detail = '') => {
    await expect(put(fs, path, options)).rejects.toMatchObject({
      code,
      path,
      message: expect.stringContaining(detail),
    })
  }
  await refused('/known', { ifAbsent: true }, 'already-exists')
  await refused('/known', { ifVersion: 'other' }, 'stale-write', `now version ${version}`)
  await refused('/none', { ifVersion: version }, 'stale-write', 'it was removed')
  await refused('/d', {}, 'is-directory')
  await refused('/', {}, 'is-directory')
  await refused('/known/below', {}, 'not-directory')
  expect([await textOf(fs, '/known'), bucket.asked]).toEqual(['old', []])
  expect(databaseFaults(storage)).toEqual([])
})

test.each(Object.entries(PUTS))('%s: what is allowed is done, and told', async (_, put) => {
  const { storage, fs } = await open()
  const { version } = await fs.stat('/known')
  const changed = await put(fs, '/known', { ifVersion: version })
  expect([changed.version === version, await fs.stat('/known')]).toEqual([false, changed])
  const again = await put(fs, '/known', { ifVersion: changed.version })
  expect(await fs.stat('/known')).toEqual(again)
  const made = await put(fs, '/new/one', { ifAbsent: true })
  expect(await fs.stat('/new/one')).toEqual(made)
  await expect(put(fs, '/known', { ifVersion: version })).rejects.toMatchObject({
    code: 'stale-write',
  })
  expect(databaseFaults(storage)).toEqual([])
})

test.each(['large', 'a large stream'])(
  '%s: a change meanwhile is not overwritten',
  async (name) => {
    const put = PUTS[name]
    if (put === undefined) throw new Error(name)
    const { storage, bucket, fs } = await open()
    const { version } = await fs.stat('/known')
    bucket.onAsked = () => fs.writeFile('/known', 'mine')
    await expect(put(fs, '/known', { ifVersion: version })).rejects.toMatchObject({
      code: 'stale-write',
    })
    bucket.onAsked = () => fs.writeFile('/new', 'mine')
    await expect(put(fs, '/new', { ifAbsent: true })).rejects.toMatchObject({
      code: 'already-exists',
    })
    bucket.onAsked = () => fs.mkdir('/dir')
    await expect(put(fs, '/dir')).rejects.toMatchObject({ code: 'is-directory' })
    expect([await textOf(fs, '/known'), await textOf(fs, '/new')]).toEqual(['mine', 'mine'])
    // The objects that were put for nothing wait for the collector.
    const faults = databaseFaults(storage).filter((fault) => !fault.startsWith('garbage_objects'))
    expect(faults).toEqual([])
    await put(fs, '/known')
    expect(await textOf(fs, '/known')).toBe('a new one')
  },
)
