// The copy of a large tree lets others run, and stands at its place only when it is whole.
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const FILES = 10_000
let fs: InMemoryFileSystem

beforeEach(async () => {
  fs = new InMemoryFileSystem()
  for (let i = 0; i < FILES; i += 1) await fs.writeFile(`/d/${i % 10}/f${i}`, 'x')
  // As in a Worker: a slice ends after a number of nodes, however fast the machine is.
  vi.spyOn(performance, 'now').mockReturnValue(0)
})
afterEach(() => void vi.restoreAllMocks())

test('others run meanwhile, and see nothing of it', async () => {
  const copied = fs.copy('/d', '/e')
  await new Promise((resolve) => setImmediate(resolve))
  await expect(fs.stat('/e')).rejects.toMatchObject({ code: 'not-found' })
  await fs.rm('/d', { recursive: true })
  await copied
  expect((await fs.ls('/e')).length).toBe(10)
  // What was counted out with the removed source is counted for the copy.
  await fs.rm('/e', { recursive: true })
  await fs.writeFile('/a', 'x')
  expect((await fs.glob('**')).length).toBe(1)
})

test('what stands at its place by then stays', async () => {
  const copied = fs.copy('/d', '/e')
  await fs.writeFile('/e', 'mine')
  await expect(copied).rejects.toMatchObject({ code: 'already-exists' })
  expect(await fs.readText('/e')).toBe('mine')
})
