import { readText } from '@helix-agents/core'
import { check, equal, equalBytes, patternBytes, rejectsWithCode } from '../assert.ts'
import { type FileSystemBehaviour, read, writeFiles } from './files.ts'

export const readingBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/read/returns-the-bytes-written',
    run: async (fs) => {
      const bytes = patternBytes(1000)
      await fs.writeFile('/a.bin', bytes)
      equalBytes(await fs.readFile('/a.bin'), bytes)
    },
  },
  {
    id: 'fs/read/text-is-utf-8',
    run: async (fs) => {
      await fs.writeFile('/a', 'zß水🍌')
      equalBytes(await fs.readFile('/a'), 'zß水🍌')
    },
  },
  {
    id: 'fs/read/invalid-utf-8-and-nul-are-kept',
    run: async (fs) => {
      const bytes = Uint8Array.of(0xff, 0, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0)
      await fs.writeFile('/a', bytes)
      equalBytes(await fs.readFile('/a'), bytes)
    },
  },
  {
    id: 'fs/read/an-empty-file-is-empty',
    run: async (fs) => {
      await fs.writeFile('/empty', '')
      equal((await fs.readFile('/empty')).length, 0)
      equal((await fs.stat('/empty')).size, 0)
    },
  },
  {
    id: 'fs/read/the-result-is-the-callers',
    run: async (fs) => {
      await fs.writeFile('/a', Uint8Array.of(1, 2))
      const first = await fs.readFile('/a')
      first[0] = 9
      equalBytes(await fs.readFile('/a'), Uint8Array.of(1, 2))
    },
  },
  {
    id: 'fs/read/a-missing-file-is-not-found',
    run: (fs) => rejectsWithCode('not-found', () => fs.readFile('/missing')),
  },
  {
    id: 'fs/read/a-directory-is-rejected',
    run: async (fs) => {
      await fs.mkdir('/d')
      await rejectsWithCode('is-directory', () => fs.readFile('/d'))
    },
  },
  {
    id: 'fs/read/below-a-file-is-rejected',
    run: async (fs) => {
      await fs.writeFile('/a', 'x')
      await rejectsWithCode(['not-found', 'not-directory'], () => fs.readFile('/a/b'))
    },
  },
  {
    id: 'fs/read/as-text-keeps-mark-and-line-ends',
    run: async (fs) => {
      await fs.writeFile('/a', '\uFEFFa\r\nb\n\nü')
      equal(await readText(fs, '/a'), '\uFEFFa\r\nb\n\nü')
    },
  },
  {
    id: 'fs/read/as-text-replaces-invalid-utf-8',
    run: async (fs) => {
      await fs.writeFile('/a', Uint8Array.of(0x61, 0xff, 0x62))
      equal(await readText(fs, '/a'), 'a\uFFFDb')
    },
  },
  {
    id: 'fs/read/as-text-sees-every-change',
    run: async (fs) => {
      await fs.writeFile('/a', 'one')
      equal(await readText(fs, '/a'), 'one')
      await fs.writeFile('/a', new TextEncoder().encode('twö'))
      equal(await readText(fs, '/a'), 'twö')
      await fs.appendFile('/a', '!')
      equal(await readText(fs, '/a'), 'twö!')
    },
  },
]

export const statBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/stat/a-file-has-path-type-and-bytes',
    run: async (fs) => {
      await fs.writeFile('/d/a', 'zß水🍌')
      const { path, type, size } = await fs.stat('d//a')
      equal({ path, type, size }, { path: '/d/a', type: 'file', size: 10 })
    },
  },
  {
    id: 'fs/stat/a-directory-has-size-0',
    run: async (fs) => {
      await writeFiles(fs, { '/d/a': 'x' })
      const { path, type, size } = await fs.stat('/d')
      equal({ path, type, size }, { path: '/d', type: 'directory', size: 0 })
    },
  },
  {
    id: 'fs/stat/the-root-is-a-directory',
    run: async (fs) => {
      const { path, type } = await fs.stat('/')
      equal({ path, type }, { path: '/', type: 'directory' })
    },
  },
  {
    id: 'fs/stat/missing-is-not-found',
    run: (fs) => rejectsWithCode('not-found', () => fs.stat('/missing')),
  },
  {
    id: 'fs/stat/time-is-a-date-that-does-not-go-back',
    run: async (fs) => {
      await fs.writeFile('/a', '1')
      const first = (await fs.stat('/a')).mtime
      check(first instanceof Date && first.getTime() > 0, 'a Date after 1970')
      await fs.writeFile('/a', '2')
      check((await fs.stat('/a')).mtime.getTime() >= first.getTime(), 'a later or equal time')
    },
  },
  {
    id: 'fs/stat/reading-keeps-the-version',
    run: async (fs) => {
      const { version } = await fs.writeFile('/a', 'x')
      await read(fs, '/a')
      await fs.writeFile('/b', 'y')
      equal((await fs.stat('/a')).version, version)
    },
  },
]
