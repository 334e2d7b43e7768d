import type { InMemoryFs } from 'just-bash'

const DIRECTORIES = ['/bin', '/usr/bin'] as const

/** The names of all commands, which a shell shows as programs. They are the same for many commands. */
export interface Programs {
  readonly mounts: readonly { readonly mountPoint: string; readonly filesystem: InMemoryFs }[]
  /** False when the path is elsewhere. */
  add(path: string, content: string | Uint8Array): boolean
}

let last: { readonly key: string; readonly programs: Programs } | undefined

/** The programs of a shell with these commands of the host: made once for as long as they stay. */
export function programsFor(memory: typeof InMemoryFs, key: string): Programs {
  last = last?.key === key ? last : { key, programs: createPrograms(memory) }
  return last.programs
}

function createPrograms(memory: typeof InMemoryFs): Programs {
  const mounts = DIRECTORIES.map((mountPoint) => ({
    mountPoint,
    filesystem: createFiles(memory, mountPoint),
  }))
  const known = new Set<string>()
  return {
    mounts,
    add: (path, content) => {
      const mount = mounts.find(({ mountPoint }) => path.startsWith(`${mountPoint}/`))
      if (mount === undefined) return false
      if (known.has(path)) return true
      known.add(path)
      mount.filesystem.writeFileSync(path.slice(mount.mountPoint.length), content)
      return true
    },
  }
}

/** Nothing that one command does there may be seen by another. */
function createFiles(memory: typeof InMemoryFs, mountPoint: string): InMemoryFs {
  const denied = (call: string) => async (path: string) => {
    throw new Error(`EACCES: permission denied, ${call} '${mountPoint}${path}'`)
  }
  class ProgramFiles extends memory {
    override writeFile = denied('open')
    override appendFile = denied('open')
    override mkdir = denied('mkdir')
    override rm = denied('unlink')
    override cp = denied('cp')
    override mv = denied('rename')
    override chmod = denied('chmod')
    override symlink = denied('symlink')
    override link = denied('link')
    override utimes = denied('utimes')
  }
  return new ProgramFiles()
}
