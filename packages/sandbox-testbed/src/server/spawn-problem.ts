const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    E2BIG: 'argument list too long',
    EACCES: 'permission denied',
    EAGAIN: 'resource temporarily unavailable',
    ELOOP: 'too many levels of symbolic links',
    ENOENT: 'no such file or directory',
    ENOMEM: 'cannot allocate memory',
    ENOTDIR: 'not a directory',
  }),
)

/**
 * How the real server tells that no shell, or other program, could be spawned. It names the program
 * whatever was in the way, most often the directory to start in.
 */
export function spawnProblem(errno: string, program = '/bin/bash'): string {
  return `${errno}: ${REASONS.get(errno) ?? 'unknown error'}, posix_spawn '${program}'`
}
