import { posix } from 'node:path'

/**
 * The target of a link as a snapshot holds it: relative, below the root, in one spelling. Where an
 * absolute one leads into the workspace, it becomes the relative one that leads to the same place,
 * so that it does in a workspace elsewhere too.
 *
 * @param path of the link, in the workspace.
 * @param roots the root as commands and as the host name it.
 * @returns undefined for one that leads out, or may do so through another link.
 */
export function toInnerTarget(
  path: string,
  target: string,
  roots: readonly string[],
): string | undefined {
  if (!target.startsWith('/')) return inFrontOnly(target, path.split('/').length - 2)
  const root = roots.find((one) => target === one || target.startsWith(`${one}/`))
  const names = root === undefined ? ['..'] : namesOf(target.slice(root.length))
  if (names.includes('..')) return undefined
  const relative = posix.relative(posix.dirname(path), `/${names.join('/')}`)
  return relative === '' ? '.' : relative
}

/** Steps up are taken in front only: behind a name they may start from where a link led. */
function inFrontOnly(target: string, depth: number): string | undefined {
  const names = namesOf(target)
  const climbs = names.findIndex((name) => name !== '..')
  const up = climbs < 0 ? names.length : climbs
  if (up > depth || names.includes('..', up)) return undefined
  return names.length === 0 ? '.' : names.join('/')
}

function namesOf(target: string): string[] {
  return target.split('/').filter((name) => name !== '' && name !== '.')
}
