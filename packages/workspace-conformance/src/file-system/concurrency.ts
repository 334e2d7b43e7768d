import { equal, rejectsAborted } from '../assert.ts'
import { type FileSystemBehaviour, names, read } from './files.ts'

const SIZE = 256 * 1024

const uniform = (content: string): boolean =>
  content.length === SIZE && content === content.charAt(0).repeat(SIZE)

export const concurrencyBehaviours: readonly FileSystemBehaviour[] = [
  {
    id: 'fs/concurrency/ten-writers-leave-one-whole-content',
    run: async (fs) => {
      const letters = 'abcdefghij'.split('')
      await Promise.all(letters.map((letter) => fs.writeFile('/a', letter.repeat(SIZE))))
      equal(uniform(await read(fs, '/a')), true)
      equal(await names(fs, '/'), ['a'])
    },
  },
  {
    id: 'fs/concurrency/a-reader-sees-old-or-new-whole',
    run: async (fs) => {
      await fs.writeFile('/a', 'a'.repeat(SIZE))
      const rounds = 'bcdefghi'.split('').map(async (letter) => {
        const write = fs.writeFile('/a', letter.repeat(SIZE))
        const [first, second] = await Promise.all([read(fs, '/a'), read(fs, '/a'), write])
        return [first, second]
      })
      const seen = (await Promise.all(rounds)).flat()
      equal(
        seen.map(uniform),
        Array.from(seen, () => true),
      )
    },
  },
  {
    id: 'fs/concurrency/a-listing-never-shows-a-half-written-file',
    run: async (fs) => {
      const writes = 'abcdefgh'.split('').map((letter) => fs.writeFile(`/d/${letter}`, letter))
      const [during] = await Promise.all([fs.ls('/'), ...writes])
      equal(
        during.map((entry) => entry.name).filter((name) => name !== 'd'),
        [],
      )
      equal(await names(fs, '/d'), 'abcdefgh'.split(''))
    },
  },
  {
    id: 'fs/concurrency/files-of-one-new-directory',
    run: async (fs) => {
      const wanted = Array.from({ length: 20 }, (_, index) => `f${String(index).padStart(2, '0')}`)
      await Promise.all(wanted.map((name) => fs.writeFile(`/new/sub/${name}`, name)))
      equal(await names(fs, '/new/sub'), wanted)
    },
  },
  {
    id: 'fs/abort/a-search-ends',
    slow: true,
    run: async (fs) => {
      const files = Array.from({ length: 500 }, (_, index) => `/d/${index}`)
      await Promise.all(files.map((path) => fs.writeFile(path, 'line\n'.repeat(200))))
      const controller = new AbortController()
      const reason = new Error('stopped by the test')
      const running = fs.grep('nothing like it', { signal: controller.signal })
      controller.abort(reason)
      await rejectsAborted(reason, () => running)
    },
  },
  {
    id: 'fs/abort/an-aborted-signal-starts-no-search',
    run: async (fs) => {
      const reason = new Error('stopped by the test')
      const signal = AbortSignal.abort(reason)
      await rejectsAborted(reason, () => fs.grep('x', { signal }))
      await rejectsAborted(reason, () => fs.glob('*', { signal }))
    },
  },
]
