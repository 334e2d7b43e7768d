import { closeSync, mkdtempSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { OutputReader } from '../../../src/shell/output/output-reader.ts'
import { type Pipe, PipePool } from '../../../src/shell/output/pipe-pool.ts'
import { openFilesOf } from '../../open-files.ts'

const scratch = mkdtempSync(join(tmpdir(), 'helix-reader-'))
const pool = new PipePool()
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

async function onePipe(): Promise<Pipe> {
  return pool.take(scratch)
}

test('a reader ends with the last writer, and gives all that was written', async () => {
  const { readFd, writeFd } = await onePipe()
  const pieces: string[] = []
  const reader = new OutputReader(readFd, (piece) => void pieces.push(piece.toString()))
  writeSync(writeFd, 'one')
  closeSync(writeFd)
  await reader.ended
  expect(pieces.join('')).toBe('one')
})

test('a reader waits for what takes a piece, and is not idle meanwhile', async () => {
  const { readFd, writeFd } = await onePipe()
  const taking = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let count = 0
  const reader = new OutputReader(readFd, () => taking[count++]?.promise)
  const startMs = performance.now()
  writeSync(writeFd, 'one')
  await expect.poll(() => count).toBe(1)
  expect(reader.idleMs).toBe(0)
  writeSync(writeFd, 'two')
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(count).toBe(1)
  taking[0]?.resolve()
  await expect.poll(() => count).toBe(2)
  taking[1]?.resolve()
  await expect.poll(() => reader.idleMs).toBeGreaterThan(0)
  expect(reader.idleMs).toBeLessThanOrEqual(performance.now() - startMs)
  reader.stop()
  await reader.ended
  reader.stop()
  closeSync(writeFd)
})

test('a reader that is stopped has ended, and closes its end of the pipe', async () => {
  const { path, readFd, writeFd } = await onePipe()
  const pieces: string[] = []
  const reader = new OutputReader(readFd, (piece) => void pieces.push(piece.toString()))
  const ends = (): number => openFilesOf(path)
  expect(ends()).toBe(2)
  reader.stop()
  await reader.ended
  await expect.poll(ends).toBe(1)
  expect(() => writeSync(writeFd, 'late')).toThrow('EPIPE')
  closeSync(writeFd)
  expect(pieces).toEqual([])
})
