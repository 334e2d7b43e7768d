// What an isolate remembers is used only while the database is as it was: also when somebody else
// rolls a transaction back around us, or changes the tables without us.
import { FileSystemError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import { expect, test } from 'vitest'
import { asNewIsolate, inObject, openFiles, rolledBack } from '../objects.ts'
import { createProvider } from '../provider-harness.ts'

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (FileSystemError.isInstance(error)) return error.code
    throw error
  }
}

const CHANGES: readonly (readonly [string, (fs: FileSystem) => Promise<unknown>])[] = [
  ['an overwrite', (fs) => fs.writeFile('/a', 'changed')],
  ['a longer overwrite', (fs) => fs.writeFile('/a', 'changed and longer than before')],
  ['a new file', (fs) => fs.writeFile('/d/new', 'new')],
  ['a removal', (fs) => fs.rm('/a')],
  ['a move', (fs) => fs.move('/a', '/d/moved')],
  ['a copy', (fs) => fs.copy('/a', '/d/copied')],
  ['a directory', (fs) => fs.mkdir('/d/e')],
  ['an append', (fs) => fs.appendFile('/a', '!')],
]

test.each(CHANGES)('%s that is rolled back leaves no trace', async (_, change) => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage, { maxBytes: 40, maxFiles: 4 })
    await fs.writeFile('/a', 'old')
    await fs.writeFile('/d/b', 'other')
    const before = await fs.stat('/a')
    await rolledBack(storage, () => change(fs))
    expect(await fs.stat('/a')).toEqual(before)
    expect(await fs.readText?.('/a')).toBe('old')
    expect(await fs.glob('**')).toEqual(['/a', '/d/b'])
    for (const path of ['/d/new', '/d/moved', '/d/copied', '/d/e']) {
      expect(await codeOf(fs.stat(path))).toBe('not-found')
      expect(await codeOf(fs.readFile(path))).toBe('not-found')
    }
    // Versions and what is used are as exact as before.
    await fs.writeFile('/a', 'next', { ifVersion: before.version })
    expect(await codeOf(fs.writeFile('/a', 'x', { ifVersion: before.version }))).toBe('stale-write')
    await fs.writeFile('/last', 'x')
    expect(await codeOf(fs.writeFile('/too-many', ''))).toBe('storage-full')
    expect(await codeOf(fs.writeFile('/a', 'x'.repeat(36)))).toBe('storage-full')
    await fs.writeFile('/a', 'x'.repeat(34))
  })
})

test('changes that another isolate made are seen', async () => {
  await inObject(async (storage) => {
    const one = await openFiles(storage)
    const other = await openFiles(asNewIsolate(storage))
    for (let i = 0; i < 20; i += 1) {
      const [writer, reader] = i % 2 === 0 ? [one, other] : [other, one]
      const { version } = await writer.writeFile('/a', `text ${i}`)
      expect(await reader.readText?.('/a')).toBe(`text ${i}`)
      expect((await reader.stat('/a')).version).toBe(version)
    }
    await one.rm('/a')
    expect(await codeOf(other.readFile('/a'))).toBe('not-found')
    expect(await codeOf(other.stat('/a'))).toBe('not-found')
  })
})

test('what is written while more is known than is kept is what is read', async () => {
  await inObject(async (storage) => {
    const fs = await openFiles(storage)
    for (const round of ['first', 'second']) {
      for (let i = 0; i < 3000; i += 1) await fs.writeFile(`/d/${i}`, `${round} ${i}`)
    }
    for (let i = 0; i < 3000; i += 7) expect(await fs.readText?.(`/d/${i}`)).toBe(`second ${i}`)
    expect(await fs.ls('/d')).toHaveLength(3000)
  })
})

test('files that were dropped with the storage never meet those that come after', async () => {
  await inObject(async (storage) => {
    for (const later of [storage, asNewIsolate(storage)]) {
      const old = await openFiles(storage)
      await old.writeFile('/a', 'x'.repeat(100_000))
      await old.writeFile('/b', 'old')
      const reader = (await old.readStream('/a')).getReader()
      await reader.read()
      await storage.deleteAll()
      await expect(old.readFile('/b')).rejects.toMatchObject({ code: 'lost' })
      const fs = await openFiles(later, {}, 'another')
      await fs.writeFile('/a', 'y'.repeat(100_000))
      await fs.writeFile('/b', 'new')
      for (const work of [old.readFile('/b'), old.stat('/a'), old.writeFile('/b', 'mine')]) {
        await expect(work).rejects.toMatchObject({ code: 'lost' })
      }
      await expect(old.glob('**')).rejects.toMatchObject({ code: 'lost' })
      await expect(reader.read()).rejects.toMatchObject({ code: 'content-missing' })
      expect(await fs.readText?.('/b')).toBe('new')
      await storage.deleteAll()
    }
  })
})

test('files that close() removed are lost to every handle', async () => {
  await inObject(async (storage) => {
    const [one, other] = [await openFiles(storage), await openFiles(storage)]
    await one.writeFile('/d/a', 'old')
    await one.writeFile('/d/a', 'seen')
    await createProvider(storage).deleteNamespaces()
    for (const fs of [one, other]) {
      await expect(fs.readFile('/d/a')).rejects.toMatchObject({ code: 'lost' })
      await expect(fs.writeFile('/d/a', 'x')).rejects.toMatchObject({ code: 'lost' })
      await expect(fs.writeFile('/d/b', 'x')).rejects.toMatchObject({ code: 'lost' })
    }
    const again = await openFiles(storage)
    expect(await again.glob('**')).toEqual([])
  })
})

test('two sessions with the same paths never meet, whatever is known', async () => {
  await inObject(async (storage) => {
    const sessions = ['one', 'other'] as const
    const [one, other] = await Promise.all(sessions.map((id) => openFiles(storage, {}, id)))
    if (one === undefined || other === undefined) throw new Error('not opened')
    for (let i = 0; i < 30; i += 1) {
      await one.writeFile('/d/a', `one ${i}`)
      await other.writeFile('/d/a', `other ${i}`)
      if (i % 3 === 0) await one.writeFile(`/d/only-one-${i}`, 'x')
      expect(await one.readText?.('/d/a')).toBe(`one ${i}`)
      expect(await other.readText?.('/d/a')).toBe(`other ${i}`)
    }
    expect(await other.glob('**')).toEqual(['/d/a'])
    expect((await other.grep('one')).matches).toEqual([])
    await one.rm('/d', { recursive: true })
    expect(await codeOf(one.readFile('/d/a'))).toBe('not-found')
    expect(await other.readText?.('/d/a')).toBe('other 29')
    await other.writeFile('/d/b', 'x')
    expect(await codeOf(one.stat('/d'))).toBe('not-found')
  })
})
