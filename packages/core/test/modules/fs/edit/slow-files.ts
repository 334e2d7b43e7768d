// Files that are changed as the tools do it: each call takes its time, one at a time, and may fail.
import { fileSystemConfigSchema } from '../../../../src/modules/fs/config.ts'
import type { FileChange } from '../../../../src/modules/fs/edit/rewrite-file.ts'
import { FileVersions } from '../../../../src/modules/fs/versions/file-versions.ts'
import { MapFileSystem } from '../map-file-system.ts'

type Method = 'stat' | 'writeFile' | 'rm' | 'move' | 'copy'

export async function setup(files: Readonly<Record<string, string>>, config: object = {}) {
  const fs = new MapFileSystem()
  for (const [path, text] of Object.entries(files)) await fs.writeFile(path, text)
  const asked: string[] = []
  const fails = new Map<string, unknown>()
  let isBusy = false
  const call = async <T>(method: Method, paths: string, work: () => Promise<T>): Promise<T> => {
    const name = `${method} ${paths}`
    asked.push(isBusy ? `${name} is too early` : name)
    isBusy = true
    await new Promise((resolve) => setImmediate(resolve))
    try {
      const error = fails.get(name)
      if (error !== undefined) throw error
      return await work()
    } finally {
      isBusy = false
    }
  }
  const module = Object.assign(Object.create(fs) as MapFileSystem, {
    stat: (path: string) => call('stat', path, () => fs.stat(path)),
    writeFile: (...given: Parameters<MapFileSystem['writeFile']>) =>
      call('writeFile', given[0], () => fs.writeFile(...given)),
    rm: (path: string) => call('rm', path, () => fs.rm(path)),
    move: (from: string, to: string) => call('move', `${from} ${to}`, () => fs.move(from, to)),
    copy: (from: string, to: string) => call('copy', `${from} ${to}`, () => fs.copy(from, to)),
  })
  const ledger = new FileVersions()
  const change = {
    module,
    config: fileSystemConfigSchema.parse(config),
    context: { ledger, actor: 'me' },
  } as unknown as FileChange
  const versionOf = (path: string): string => fs.files.get(path)?.version ?? 'none'
  const all = (): Record<string, string> =>
    Object.fromEntries([...fs.files.keys()].toSorted().map((path) => [path, fs.text(path)]))
  /** As the tools do when a file is read. */
  const read = (path: string): void => ledger.recordRead('me', path, versionOf(path))
  return { fs, asked, fails, ledger, change, versionOf, all, read }
}

export type World = Awaited<ReturnType<typeof setup>>
