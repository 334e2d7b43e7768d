// What a stream that is refused has read, and what waits for its end: in Node, over its SQLite.
import type { FileSystem } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { fileSystemConfigSchema } from '@helix-agents/core/provider'
import { NodeStorage } from '../node-storage.ts'
import { createProvider, openOptions, type ProviderSetup, session } from '../provider-harness.ts'

async function open(setup: ProviderSetup = {}, maxFileSizeMb = 1): Promise<FileSystem> {
  const capabilities = { fs: fileSystemConfigSchema.parse({ maxFileSizeMb }) }
  const { ws } = await createProvider(new NodeStorage(), setup).open(
    { kind: 'cloudflare-filestore' },
    session,
    openOptions({ capabilities }),
  )
  if (ws.fs === undefined) throw new Error('no files')
  return ws.fs
}

/** Pieces without end, and how many were taken. */
function endless(bytes: number) {
  const taken = { pieces: 0, isCancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        taken.pieces += 1
        controller.enqueue(new Uint8Array(bytes))
      },
      cancel: () => void (taken.isCancelled = true),
    },
    { highWaterMark: 0 },
  )
  return { taken, stream }
}

test('a stream is read no further than a file may be large', async () => {
  const fs = await open({}, 100 / 1024 / 1024)
  const { stream, taken } = endless(60)
  await expect(fs.writeStream('/a', stream)).rejects.toMatchObject({ code: 'too-large' })
  expect(taken).toEqual({ pieces: 2, isCancelled: true })
})

test('nor further than the workspace has room', async () => {
  const fs = await open({ maxBytes: 100 })
  const { stream, taken } = endless(60)
  await expect(fs.writeStream('/a', stream)).rejects.toMatchObject({ code: 'storage-full' })
  expect(taken).toEqual({ pieces: 2, isCancelled: true })
})

test('a write that is refused ends its stream first, whatever becomes of that', async () => {
  const fs = await open()
  await fs.mkdir('/d')
  const ended = Promise.withResolvers<void>()
  let isOver = false
  const stream = new ReadableStream<Uint8Array>({ cancel: () => ended.promise })
  const write = fs.writeStream('/d', stream)
  const over = write.catch(() => void (isOver = true))
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve()
  expect(isOver).toBe(false)
  ended.reject(new Error('the source'))
  await over
  await expect(write).rejects.toMatchObject({ code: 'is-directory' })
})
