import { noopLogger, systemClock } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { moveOldNotes } from './src/move-old-notes.ts'

async function createFiles(): Promise<FileSystem> {
  const session = { sessionId: 's', agentType: 'a' }
  const signal = new AbortController().signal
  const options = { workspace: 'notes', capabilities: {}, signal }
  const { ws } = await new InMemoryWorkspaceProvider().open({ kind: 'in-memory' }, session, {
    ...options,
    logger: noopLogger,
    clock: systemClock,
  })
  return ws.fs!
}

function createStorage(entries: Record<string, string>) {
  const map = new Map(Object.entries(entries))
  return {
    map,
    list: async ({ prefix }: { prefix: string }) =>
      new Map([...map].filter(([key]) => key.startsWith(prefix))),
    delete: async (key: string) => map.delete(key),
  }
}

const textOf = async (fs: FileSystem, path: string) =>
  new TextDecoder().decode(await fs.readFile(path))

const neverOpened = () => Promise.reject(new Error('opened'))

test('old notes become files, and nothing else is touched', async () => {
  const storage = createStorage({ 'note:a': 'A', 'note:../a': 'B', 'note:a/b': 'C', other: 'D' })
  const fs = await createFiles()
  expect(await moveOldNotes(storage, async () => fs)).toBe(3)
  expect([...storage.map.keys()]).toEqual(['other'])
  const paths = ['/findings/..%2Fa.md', '/findings/a%2Fb.md', '/findings/a.md']
  expect(await fs.glob('**')).toEqual(paths)
  expect(await Promise.all(paths.map((path) => textOf(fs, path)))).toEqual(['B', 'C', 'A'])
})

test('a move that was cut off resumes, and one that is done opens nothing', async () => {
  const storage = createStorage({ 'note:a': 'A', 'note:b': 'B' })
  const fs = await createFiles()
  const cut = { ...storage, delete: () => Promise.reject(new Error('cut')) }
  await expect(moveOldNotes(cut, async () => fs)).rejects.toThrow('cut')
  expect(await moveOldNotes(storage, async () => fs)).toBe(2)
  expect(await fs.glob('**')).toEqual(['/findings/a.md', '/findings/b.md'])
  expect(await moveOldNotes(storage, neverOpened)).toBe(0)
})
