import type { FileSystemConfig, PathRule } from '../config.ts'
import { compileGlob } from '../search/glob.ts'

export type PathAccess = PathRule['access']

/** Decides by the first rule that matches; paths without a rule may be written. */
export type AccessRules = (path: string) => PathAccess

/**
 * Compiles path rules. A rule covers what its pattern matches and everything below that; `/a/**`
 * also covers `/a` itself. Paths must be normalised.
 */
export function compileAccessRules(rules: FileSystemConfig['pathRules']): AccessRules {
  const compiled = rules.map((rule) => ({
    access: rule.access,
    pattern: compilePathPattern(rule.pattern),
  }))
  return (path) => {
    const relative = path.slice(1)
    return compiled.find((rule) => rule.pattern.matches(relative))?.access ?? 'write'
  }
}

/** A compiled pattern of a path rule. Paths are relative to the root: `src/a.ts`. */
export interface PathPattern {
  /** Whether it covers a path: the pattern matches it, or something above it. */
  matches(relativePath: string): boolean
  /** Whether it may cover something below a directory. */
  mayCoverBelow(relativeDirectory: string): boolean
}

/**
 * Compiles the pattern of a path rule.
 * @throws {FileSystemError} `invalid-pattern`; `path-escape` for a `..`.
 */
export function compilePathPattern(pattern: string): PathPattern {
  const top = pattern.replace(/(?:\/(?:\*\*)?)+$/, '')
  if (top === '') return { matches: () => true, mayCoverBelow: () => true }
  const [self, below] = [compileGlob(top), compileGlob(`${top}/**`)]
  const { base } = below
  const needle = literalName(top)
  return {
    matches: (path) =>
      path.startsWith(base) && path.includes(needle) && (self.matches(path) || below.matches(path)),
    mayCoverBelow: (path) => self.mayContain(path) || below.mayContain(path),
  }
}

/** A name that every path which matches has: most paths are told from it at once. */
function literalName(pattern: string): string {
  if (/[{\\]/.test(pattern)) return ''
  const names = pattern.split('/').filter((name) => !/[*?[]/.test(name) && name !== '.')
  return names.reduce((longest, name) => (name.length > longest.length ? name : longest), '')
}
