import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeBytes } from '../../src/snapshots/write-bytes.ts'
import { useDirectory } from './store/store-fixture.ts'

const directory = useDirectory()

describe('bytes that are written', () => {
  it.each([0, 5, 64 * 1024, 64 * 1024 + 1])('%d of them, in their place', async (length) => {
    const path = join(directory(), 'f')
    const fd = openSync(path, 'w+')
    ftruncateSync(fd, 3)
    const bytes = new Uint8Array(length).map((_, index) => index % 251)
    const written = writeBytes(fd, bytes, 3)
    expect(written === undefined).toBe(length <= 64 * 1024)
    await written
    closeSync(fd)
    const found = readFileSync(path)
    expect(found.subarray(0, 3).equals(Buffer.alloc(3))).toBe(true)
    expect(found.subarray(3).equals(Buffer.from(bytes))).toBe(true)
  })
})
