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
    matches: compileRule(rule.pattern),
  }))
  return (path) => {
    const relative = path.slice(1)
    return compiled.find((rule) => rule.matches(relative))?.access ?? 'write'
  }
}

function compileRule(pattern: string): (relativePath: string) => boolean {
  const top = pattern.replace(/(?:\/(?:\*\*)?)+$/, '')
  if (top === '') return () => true
  const [self, below] = [compileGlob(top), compileGlob(`${top}/**`)]
  return (path) => self.matches(path) || below.matches(path)
}
