import { FileSystemError } from '@helix-agents/core'
import { type FileEntry, normalizePath } from '@helix-agents/core/provider'
import { type FsSaboteur, input, recode, replace, result, swallow } from './break-file-system.ts'

const utf16 = (a: FileEntry, b: FileEntry): number => (a.name < b.name ? -1 : 1)

/** Removes every path that starts with the same characters. */
const removesByPrefix = replace((good) => ({
  rm: async (path, options) => {
    await good.rm(path, options)
    for (const entry of await good.ls('/')) {
      if (entry.path.startsWith(path)) await good.rm(entry.path, { recursive: true })
    }
  },
}))

/** Reads `%` and `_` in a path as SQL does. */
const removesByPattern = replace((good) => ({
  rm: async (path, options) => {
    const [start = ''] = path.split('%')
    for (const entry of await good.ls('/')) {
      if (path.includes('%') && entry.path.startsWith(start.slice(0, 1)))
        await good.rm(entry.path, { recursive: true })
    }
    if (!path.includes('%')) await good.rm(path, options).catch(() => undefined)
  },
  ls: async (path) => (await good.ls(path)).filter((entry) => !entry.name.includes('\n')),
}))

/** Shows one path as another to every call. */
const seesPathsAs = (change: (path: string) => string): FsSaboteur =>
  replace((good) => ({
    readFile: (path) => good.readFile(change(path)),
    writeFile: (path, data, options) => good.writeFile(change(path), data, options),
    ls: (path) => good.ls(change(path)),
  }))

/** Accepts a bad path in one call. */
const acceptsInRm = swallow('rm')

export const listingSaboteurs: Readonly<Record<string, FsSaboteur>> = {
  'fs/list/the-root-may-be-empty': replace(() => ({
    ls: (path) => Promise.reject(new FileSystemError('not-found', path)),
  })),
  'fs/list/is-direct-and-sorted': result('ls', (entries) => entries.toReversed()),
  'fs/list/is-in-code-point-order': result('ls', (entries) => entries.toSorted(utf16)),
  'fs/list/entries-have-path-and-bytes': result('ls', (entries) =>
    entries.map(({ name, path, type }) => ({ name, path, type })),
  ),
  'fs/list/sees-every-change': replace((good) => {
    let cached: Promise<FileEntry[]> | undefined
    return { ls: (path) => (cached ??= good.ls(path)) }
  }),
  'fs/list/returns-every-entry': result('ls', (entries) => entries.slice(0, 1000)),
  'fs/list/missing-is-not-found': swallow('ls', []),
  'fs/list/a-file-is-not-a-directory': recode('ls', 'not-directory'),
  'fs/mkdir/makes-an-empty-directory': replace(() => ({ mkdir: async () => {} })),
  'fs/mkdir/recursive-makes-the-parents': input('mkdir', (path) => [path]),
  'fs/mkdir/recursive-keeps-an-existing-one': replace((good) => ({
    mkdir: async (path, options) => {
      await good.rm(path, { recursive: true }).catch(() => undefined)
      return good.mkdir(path, options)
    },
  })),
  'fs/mkdir/an-existing-one-is-rejected': input('mkdir', (path) => [path, { recursive: true }]),
  'fs/mkdir/over-a-file-is-rejected': swallow('mkdir'),
  'fs/mkdir/a-missing-parent-is-not-found': input('mkdir', (path) => [path, { recursive: true }]),
  'fs/mkdir/below-a-file-is-rejected': recode('mkdir', 'not-directory'),
  'fs/rm/removes-a-file': replace(() => ({ rm: async () => {} })),
  'fs/rm/removes-an-empty-directory': replace((good) => ({
    rm: async (path) => {
      if ((await good.stat(path)).type === 'directory') {
        throw new FileSystemError('is-directory', path)
      }
    },
  })),
  'fs/rm/a-full-directory-is-rejected': input('rm', (path) => [path, { recursive: true }]),
  'fs/rm/recursive-removes-the-subtree': input('rm', (path) => [path]),
  'fs/rm/missing-is-not-found': swallow('rm'),
  'fs/rm/the-root-is-emptied-and-stays': replace((good) => ({
    rm: (path, options) =>
      normalizePath(path) === '/'
        ? Promise.reject(new FileSystemError('permission-denied', path))
        : good.rm(path, options),
  })),
  'fs/rm/leaves-names-that-only-start-alike': removesByPrefix,
  'fs/rm/odd-names-mean-themselves': removesByPattern,
}

export const pathSaboteurs: Readonly<Record<string, FsSaboteur>> = {
  'fs/path/relative-is-absolute': seesPathsAs((path) =>
    path.startsWith('/') ? path : `/r/${path}`,
  ),
  'fs/path/dots-and-slashes-are-normalised': seesPathsAs((path) => path.replaceAll('.', '_')),
  'fs/path/escape-is-rejected': acceptsInRm,
  'fs/path/nul-is-rejected': recode('grep', 'invalid-path'),
  'fs/path/a-name-over-255-bytes-is-rejected': swallow('mkdir'),
  'fs/path/over-4096-bytes-is-rejected': recode('readStream', 'invalid-path'),
  'fs/path/over-256-names-is-rejected': recode('stat', 'invalid-path'),
  'fs/path/256-names-are-fine': result('glob', (paths) =>
    paths.filter((path) => path.length < 500),
  ),
  'fs/path/a-name-of-255-bytes-is-fine': replace((good) => ({
    writeFile: (path, data) =>
      path.length > 200
        ? Promise.reject(new FileSystemError('invalid-path', path))
        : good.writeFile(path, data),
  })),
  'fs/path/a-deep-tree-is-fine': result('glob', (paths) =>
    paths.filter((path) => path.length < 150),
  ),
  'fs/path/case-and-normal-form-matter': seesPathsAs((path) => path.normalize('NFC')),
  'fs/path/unicode-everywhere': result('glob', (paths) => paths.map((path) => encodeURI(path))),
}

const tornWrite = replace((good) => ({
  writeFile: async (path, data) => {
    const half = data.slice(0, data.length / 2)
    await good.writeFile(path, half)
    await Promise.resolve()
    return good.appendFile(path, data.slice(data.length / 2))
  },
}))

export const concurrencySaboteurs: Readonly<Record<string, FsSaboteur>> = {
  'fs/concurrency/ten-writers-leave-one-whole-content': tornWrite,
  'fs/concurrency/a-reader-sees-old-or-new-whole': tornWrite,
  'fs/concurrency/a-listing-never-shows-a-half-written-file': replace((good) => ({
    writeFile: async (path, data) => {
      const part = `/${crypto.randomUUID()}.part`
      await good.writeFile(part, data)
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
      await good.move(part, path)
      return good.stat(path)
    },
  })),
  'fs/concurrency/files-of-one-new-directory': replace((good) => ({
    writeFile: async (path, data) => {
      const parent = path.slice(0, path.lastIndexOf('/'))
      const exists = await good.stat(parent).then(
        () => true,
        () => false,
      )
      if (!exists) await good.mkdir('/new').catch(() => undefined)
      if (!exists) await good.mkdir(parent)
      return good.writeFile(path, data)
    },
  })),
  'fs/abort/a-search-ends': input('grep', (pattern) => [pattern]),
  'fs/abort/an-aborted-signal-starts-no-search': input('glob', (pattern) => [pattern]),
}
