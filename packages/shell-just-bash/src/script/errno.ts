/** Codes of file system errors → what POSIX calls them. */
const ERRNO: ReadonlyMap<string, readonly [name: string, text: string]> = new Map([
  ['not-found', ['ENOENT', 'no such file or directory']],
  ['already-exists', ['EEXIST', 'file already exists']],
  ['is-directory', ['EISDIR', 'illegal operation on a directory']],
  ['not-directory', ['ENOTDIR', 'not a directory']],
  ['not-empty', ['ENOTEMPTY', 'directory not empty']],
  ['permission-denied', ['EACCES', 'permission denied']],
  ['path-escape', ['EACCES', 'permission denied']],
  ['read-only', ['EROFS', 'read-only file system']],
  ['invalid-path', ['EINVAL', 'invalid argument']],
  ['too-large', ['EFBIG', 'file too large']],
  ['storage-full', ['ENOSPC', 'no space left on device']],
  ['content-missing', ['EIO', 'the stored content is missing']],
  ['stale-write', ['EAGAIN', 'the file changed meanwhile']],
])

/** The text by which just-bash knows what went wrong. */
export function errnoText(code: string, call: string, path: string): string {
  const [name, text] = ERRNO.get(code) ?? ['EIO', 'input/output error']
  return `${name}: ${text}, ${call} '${path}'`
}
