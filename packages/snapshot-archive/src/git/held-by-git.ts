import { parentPath, type SnapshotEntry } from '@helix-agents/core/provider'

/**
 * `reserved-name`: Git rejects the name (`.git`), or the content under it may be rejected.
 * `empty-directory`: Git stores no directory without files. `mode`: Git stores only whether a file
 * is executable.
 */
export type GitDifferenceKind = 'reserved-name' | 'empty-directory' | 'mode'

/** What the repository does not hold as the snapshot does. */
export interface GitDifference {
  readonly path: string
  readonly kind: GitDifferenceKind
}

/** Characters that file systems of other machines ignore in a name. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu
/** Of `.gitattributes`: a longer one may have a line that `git fsck` rejects. */
const MAX_ATTRIBUTES_BYTES = 2048
const FILE_MODES: ReadonlySet<number | undefined> = new Set([undefined, 0o644, 0o755])

/** The entries that a tree of Git holds, and what is lost. */
export function heldByGit(entries: readonly SnapshotEntry[]): {
  readonly held: readonly SnapshotEntry[]
  readonly differences: readonly GitDifference[]
} {
  const differences: GitDifference[] = []
  const leftOut = new Set<string>()
  const held = entries.filter((entry) => {
    const { path } = entry
    if (leftOut.has(parentPath(path))) return !leftOut.add(path)
    if (isReserved(entry)) {
      differences.push({ path, kind: 'reserved-name' })
      return !leftOut.add(path)
    }
    if (!hasGitMode(entry)) differences.push({ path, kind: 'mode' })
    return true
  })
  const filled = new Set<string>()
  for (const { path, type } of held) {
    if (type === 'directory') continue
    for (let at = parentPath(path); !filled.has(at); at = parentPath(at)) filled.add(at)
  }
  for (const { path, type } of held) {
    if (type === 'directory' && !filled.has(path))
      differences.push({ path, kind: 'empty-directory' })
  }
  return { held, differences }
}

function hasGitMode(entry: SnapshotEntry): boolean {
  if (entry.type === 'symlink') return true
  if (entry.type === 'file') return FILE_MODES.has(entry.mode)
  return entry.mode === undefined || entry.mode === 0o755
}

/** Also the names that stand for `.git` on the file systems of Windows and macOS. */
function isReserved(entry: SnapshotEntry): boolean {
  const name = entry.path.slice(entry.path.lastIndexOf('/') + 1)
  return name.split('\\').some((part) => {
    const plain = (part.replaceAll(IGNORED, '').toLowerCase().split(':')[0] ?? '').replace(
      /[ .]+$/,
      '',
    )
    if (plain === '.git' || plain === '.gitmodules' || /^gi[a-z0-9]*~[0-9]+/.test(plain))
      return true
    return plain === '.gitattributes' && entry.type === 'file' && entry.size > MAX_ATTRIBUTES_BYTES
  })
}
