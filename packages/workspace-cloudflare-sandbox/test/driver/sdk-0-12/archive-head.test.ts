import { expect, it } from 'vitest'
import { readArchiveHead } from '../../../src/driver/sdk-0-12/archive-head.ts'

/** A bucket with one archive, and what was asked of it. */
function bucketWith(head: Uint8Array | undefined) {
  const asked: unknown[] = []
  const get = async (key: string, options: unknown) => {
    asked.push([key, options])
    return head === undefined ? null : { arrayBuffer: async () => Uint8Array.from(head).buffer }
  }
  return { asked, bucket: { get } as unknown as R2Bucket }
}

function headOf(inodes: number, magic = 'hsqs'): Uint8Array {
  const head = new Uint8Array(8)
  head.set(new TextEncoder().encode(magic))
  new DataView(head.buffer).setUint32(4, inodes, true)
  return head
}

it('reads the number of files and directories from the first bytes of a backup', async () => {
  const { asked, bucket } = bucketWith(headOf(300))
  expect(await readArchiveHead(bucket, 'b-1')).toEqual({ members: 299 })
  expect(asked).toEqual([['backups/b-1/data.sqsh', { range: { offset: 0, length: 8 } }]])
})

it('an archive of nothing has no members', async () => {
  expect(await readArchiveHead(bucketWith(headOf(1)).bucket, 'b')).toEqual({ members: 0 })
  expect(await readArchiveHead(bucketWith(headOf(0)).bucket, 'b')).toEqual({ members: 0 })
})

it.each([
  ['is not there', undefined],
  ['is cut off', headOf(3).subarray(0, 7)],
  ['is empty', new Uint8Array()],
  ['has another format', headOf(3, 'sqsh')],
])('says nothing of one that %s', async (_, head) => {
  expect(await readArchiveHead(bucketWith(head).bucket, 'b')).toBeUndefined()
})
