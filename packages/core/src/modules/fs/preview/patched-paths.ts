import { HelixError } from '../../../errors/helix-error.ts'
import type { TouchedPath } from '../../../permissions/permission-rule.ts'
import { parsePatch } from '../patch/parse-patch.ts'

/**
 * The files that a patch may name. Where `a/` may be a folder or the prefix of git, both count; a
 * patch that cannot be read changes nothing, and names none.
 */
export function patchedPaths(patch: string): readonly TouchedPath[] {
  const names = sectionsOf(patch).flatMap(({ from, to }) => [from, to])
  const paths = names.flatMap((name) => {
    if (name === undefined) return []
    const bare = name.replace(/^[abciow]\//, '')
    return bare === name ? [name] : [name, bare]
  })
  return [...new Set(paths)].map((path) => ({ path }))
}

function sectionsOf(patch: string) {
  try {
    return parsePatch(patch).sections
  } catch (error) {
    if (HelixError.isInstance(error)) return []
    throw error
  }
}
