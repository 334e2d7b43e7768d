import type { FileSystemConfig, PathRule } from '../config.ts'
import { compileGlob } from '../search/glob.ts'

export type PathAccess = PathRule['access']

/** Decides by the first rule that matches; paths without a rule may be written. */
export type AccessRules = (path: string) => PathAccess

/** Compiles path rules. `/a/**` also covers `/a` itself. Paths must be normalised. */
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
  const below = compileGlob(pattern)
  if (!pattern.endsWith('/**')) return (path) => below.matches(path)
  const directory = pattern.slice(0, -3)
  if (directory === '') return () => true
  const self = compileGlob(directory)
  return (path) => below.matches(path) || self.matches(path)
}
