import type { FileEntry, FileStat, FileSystem, GrepOptions, GrepResult } from '../contract.ts'
import { joinPath } from '../path/path.ts'
import { DEFAULT_MAX_RESULTS } from '../search/grep-collector.ts'
import { type ReachedPath, respell, type RuledPaths, type WantedAccess } from './ruled-paths.ts'
import { filesBelow } from '../path/subtree.ts'

/**
 * Applies path rules: hidden paths are rejected when named and left out of every listing. A call
 * is made with the path that its own path reaches, which passed the rules too.
 * @param fs Rejects links, so that none that is made meanwhile leads it elsewhere.
 */
export function withPathRules(fs: FileSystem, paths: RuledPaths): FileSystem {
  return {
    ...fs,
    ...readingMethods(fs, paths),
    ...searchMethods(fs, paths),
    ...writingMethods(fs, paths),
    ...treeMethods(fs, paths),
  }
}

function readingMethods(fs: FileSystem, paths: RuledPaths): Partial<FileSystem> {
  const readText = fs.readText?.bind(fs)
  const reach = async (path: string): Promise<string> => (await paths.reach(path, 'read')).real
  return {
    readFile: async (path) => fs.readFile(await reach(path)),
    stat: async (path) => {
      const reached = await paths.reach(path, 'read')
      return asSpelled(await fs.stat(reached.real), reached)
    },
    readStream: async (path, options) => fs.readStream(await reach(path), options),
    ...(readText && { readText: async (path) => readText(await reach(path)) }),
  }
}

function writingMethods(fs: FileSystem, paths: RuledPaths): Partial<FileSystem> {
  const write = async (
    path: string,
    run: (real: string) => Promise<FileStat>,
  ): Promise<FileStat> => {
    const reached = await paths.reach(path, 'write')
    return asSpelled(await run(reached.real), reached)
  }
  return {
    writeFile: (path, data, options) => write(path, (real) => fs.writeFile(real, data, options)),
    appendFile: (path, data) => write(path, (real) => fs.appendFile(real, data)),
    mkdir: async (path, options) => fs.mkdir((await paths.reach(path, 'write')).real, options),
    writeStream: (path, source, options) =>
      write(path, (real) => fs.writeStream(real, source, options)),
  }
}

function asSpelled<Found extends { readonly path: string }>(
  found: Found,
  reached: ReachedPath,
): Found {
  if (reached.spelled === reached.real) return found
  return { ...found, path: respell(reached, found.path) }
}

/** Calls on a whole subtree: no path in it may be off limits, at the source and at the target. */
function treeMethods(fs: FileSystem, paths: RuledPaths): Partial<FileSystem> {
  const transfer = async (from: string, to: string, wanted: WantedAccess) => {
    const { real: source } = await paths.reach(from, wanted, wanted === 'read')
    const { real: target } = await paths.reach(to, 'write', wanted === 'read')
    for await (const path of subtree(fs, paths, source)) {
      paths.check(path, wanted)
      paths.check(joinPath(target, path.slice(source.length)), 'write')
    }
    return [source, target] as const
  }
  return {
    copy: async (from, to, options) => fs.copy(...(await transfer(from, to, 'read')), options),
    move: async (from, to, options) => fs.move(...(await transfer(from, to, 'write')), options),
    rm: async (path, options) => {
      const { real } = await paths.reach(path, 'write', false)
      if (options?.recursive === true) {
        for await (const below of subtree(fs, paths, real)) paths.check(below, 'write')
      }
      return fs.rm(real, options)
    },
  }
}

/** A real path and all below it. A link is by itself: what it leads to is not touched. */
async function* subtree(fs: FileSystem, paths: RuledPaths, real: string): AsyncGenerator<string> {
  if (await paths.isLink(real)) yield real
  else for await (const file of filesBelow(fs, real)) yield file.path
}

function searchMethods(fs: FileSystem, paths: RuledPaths): Partial<FileSystem> {
  const watch = fs.watch?.bind(fs)
  return {
    ...(watch && {
      watch: async (path, callback) => {
        const reached = await paths.reach(path, 'read')
        return watch(reached.real, async (event) => {
          for (const seen of visible([event], (found) => found.path, { paths, reached }))
            await callback(asSpelled(seen, reached))
        })
      },
    }),
    ls: async (path) => {
      const reached = await paths.reach(path, 'read')
      const entries = await fs.ls(reached.real)
      const seen = visible(entries, (entry: FileEntry) => entry.path, { paths, reached })
      return seen.map((entry) => asSpelled(entry, reached))
    },
    glob: async (pattern, options) => {
      const { limit, ...rest } = options ?? {}
      const reached = await paths.reach(rest.path ?? '/', 'read')
      // The limit counts visible paths.
      const found = await fs.glob(pattern, { ...rest, path: reached.real })
      const seen = visible(found, (path) => path, { paths, reached })
      return seen.slice(0, limit).map((path) => respell(reached, path))
    },
    grep: async (pattern, options) => {
      const reached = await paths.reach(options?.path ?? '/', 'read')
      const search = { ...options, path: reached.real }
      return grepVisible(fs, pattern, { options: search, paths, reached })
    },
  }
}

interface View {
  readonly paths: RuledPaths
  readonly reached: ReachedPath
}

/** What is visible both where it is and as it is spelled. */
function visible<T>(found: readonly T[], pathOf: (item: T) => string, view: View): T[] {
  const { paths, reached } = view
  return found.filter((item) => {
    const path = pathOf(item)
    return paths.isVisible(path) && paths.isVisible(respell(reached, path))
  })
}

/** Searches again for more when hidden matches have used up the limit. */
async function grepVisible(
  fs: FileSystem,
  pattern: string,
  search: View & { readonly options: GrepOptions },
): Promise<GrepResult> {
  const { options, reached } = search
  const wanted = options.maxResults ?? DEFAULT_MAX_RESULTS
  const visiblePaths = (paths: readonly string[]): string[] =>
    visible(paths, (path) => path, search).map((path) => respell(reached, path))
  for (let maxResults = wanted; ; maxResults = maxResults * 8 + 8) {
    const result = await fs.grep(pattern, { ...options, maxResults })
    const matches = visible(result.matches, (match) => match.path, search)
    const isCut = result.matches.length >= maxResults && !result.countIsComplete
    if (matches.length >= wanted || !isCut) {
      return {
        matches: matches.slice(0, wanted).map((match) => asSpelled(match, reached)),
        skippedPaths: visiblePaths(result.skippedPaths),
        skippedBinaryPaths: visiblePaths(result.skippedBinaryPaths),
        countIsComplete: result.countIsComplete && matches.length <= wanted,
      }
    }
  }
}
