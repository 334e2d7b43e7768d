import { PolicyError } from '../../errors/policy-error.ts'
import { logMessages } from '../../logging/log-messages.ts'
import type { PolicyContext } from '../define-module.ts'
import type { FileSystemConfig } from './config.ts'
import type { FileSystem, GrepOptions, GrepResult } from './contract.ts'
import { type AccessRules, compileAccessRules, type PathAccess } from './path-access.ts'
import { joinPath, normalizePath } from './path.ts'
import { filesBelow } from './subtree.ts'

const DEFAULT_MAX_RESULTS = 1000

type Check = (path: string, wanted: Exclude<PathAccess, 'none'>) => string

/** Applies path rules: hidden paths are refused when named and left out of every listing. */
export function withPathRules(
  fs: FileSystem,
  config: FileSystemConfig,
  context: PolicyContext,
): FileSystem {
  if (config.pathRules.length === 0) return fs
  const accessOf = compileAccessRules(config.pathRules)
  const check = createCheck(accessOf, context)
  return {
    ...fs,
    ...readingMethods(fs, check),
    ...searchMethods(fs, check, (path) => accessOf(path) !== 'none'),
    ...writingMethods(fs, check),
    ...treeMethods(fs, check),
  }
}

/** Returns the normalised path, or refuses it and has that recorded. */
function createCheck(accessOf: AccessRules, context: PolicyContext): Check {
  return (path, wanted) => {
    const normal = normalizePath(path)
    const access = accessOf(normal)
    if (access === 'write' || access === wanted) return normal
    const reason = access === 'none' ? 'may not be used' : 'may be read but not changed'
    context.audit({
      message: logMessages.pathDenied,
      code: 'path-denied',
      key: normal,
      fields: { path: normal, wanted, access },
    })
    throw new PolicyError('path-denied', `${JSON.stringify(normal)} ${reason} in this workspace`)
  }
}

function readingMethods(fs: FileSystem, check: Check): Partial<FileSystem> {
  const readText = fs.readText?.bind(fs)
  return {
    readFile: async (path) => fs.readFile(check(path, 'read')),
    stat: async (path) => fs.stat(check(path, 'read')),
    readStream: async (path, options) => fs.readStream(check(path, 'read'), options),
    ...(readText && { readText: async (path) => readText(check(path, 'read')) }),
  }
}

function writingMethods(fs: FileSystem, check: Check): Partial<FileSystem> {
  return {
    writeFile: async (path, data, options) => fs.writeFile(check(path, 'write'), data, options),
    appendFile: async (path, data) => fs.appendFile(check(path, 'write'), data),
    mkdir: async (path, options) => fs.mkdir(check(path, 'write'), options),
    writeStream: async (path, source, options) =>
      fs.writeStream(check(path, 'write'), source, options),
  }
}

/** Calls on a whole subtree: no path in it may be off limits, at the source and at the target. */
function treeMethods(fs: FileSystem, check: Check): Partial<FileSystem> {
  const transfer = async (from: string, to: string, wanted: 'read' | 'write') => {
    const source = check(from, wanted)
    const target = check(to, 'write')
    for await (const file of filesBelow(fs, source)) {
      check(file.path, wanted)
      check(joinPath(target, file.path.slice(source.length)), 'write')
    }
    return [source, target] as const
  }
  return {
    copy: async (from, to, options) => fs.copy(...(await transfer(from, to, 'read')), options),
    move: async (from, to, options) => fs.move(...(await transfer(from, to, 'write')), options),
    rm: async (path, options) => {
      const normal = check(path, 'write')
      if (options?.recursive === true) {
        for await (const file of filesBelow(fs, normal)) check(file.path, 'write')
      }
      return fs.rm(normal, options)
    },
  }
}

function searchMethods(
  fs: FileSystem,
  check: Check,
  isVisible: (path: string) => boolean,
): Partial<FileSystem> {
  const watch = fs.watch?.bind(fs)
  return {
    ...(watch && {
      watch: async (path, callback) =>
        watch(check(path, 'read'), async (event) => {
          if (isVisible(event.path)) await callback(event)
        }),
    }),
    ls: async (path) => {
      const entries = await fs.ls(check(path, 'read'))
      return entries.filter((entry) => isVisible(entry.path))
    },
    glob: async (pattern, options) => {
      const { limit, ...rest } = options ?? {}
      const path = check(rest.path ?? '/', 'read')
      // The limit counts visible paths.
      const paths = await fs.glob(pattern, { ...rest, path })
      return paths.filter(isVisible).slice(0, limit)
    },
    grep: async (pattern, options) => {
      const path = check(options?.path ?? '/', 'read')
      return grepVisible(fs, pattern, { ...options, path }, isVisible)
    },
  }
}

/** Searches again for more when hidden matches have used up the limit. */
async function grepVisible(
  fs: FileSystem,
  pattern: string,
  options: GrepOptions,
  isVisible: (path: string) => boolean,
): Promise<GrepResult> {
  const wanted = options.maxResults ?? DEFAULT_MAX_RESULTS
  for (let maxResults = wanted; ; maxResults = maxResults * 8 + 8) {
    const result = await fs.grep(pattern, { ...options, maxResults })
    const matches = result.matches.filter((match) => isVisible(match.path))
    const isCut = result.matches.length >= maxResults && !result.countIsComplete
    if (matches.length >= wanted || !isCut) {
      return {
        matches: matches.slice(0, wanted),
        skippedPaths: result.skippedPaths.filter(isVisible),
        skippedBinaryPaths: result.skippedBinaryPaths.filter(isVisible),
        countIsComplete: result.countIsComplete && matches.length <= wanted,
      }
    }
  }
}
