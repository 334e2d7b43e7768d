import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'

/** Places where a host has files, and names that a careless behaviour could choose. */
const SENTINELS = [
  '/etc/passwd /etc/ssl/key /var/lib/thesis /opt/keys/id /usr/bin/sh',
  '/a /d/a /b /e/x /x /A /src/a.ts /source /target/x /log',
  '/data/x /data/etc/passwd /data/a-b/x /data/ws/box/x /data/ws/first/x /data/snapshots/x',
  '/data/ws/notes/x /data/ws/session-1/x /data/ws/session-0/x /data/ws/a-b/x',
  '/data/ws/no-such-workspace/x /data/ws/x /data/ws/etc/passwd /data/ws/payload/x',
].flatMap((line) => line.split(' '))

/**
 * A host that is a directory: `/etc` of a provider on it is `<root>/etc`. Whatever path a provider
 * makes of an id, it cannot name one outside of the root.
 */
export class ThrowAwayHost {
  readonly #root = mkdtempSync(join(realpathSync(tmpdir()), 'helix-throw-away-host-'))

  constructor() {
    for (const path of SENTINELS) {
      mkdirSync(dirname(this.path(path)), { recursive: true })
      writeFileSync(this.path(path), `sentinel ${path}`)
    }
  }

  /** Where a path of the host is: always below the root, whatever `..` there is in it. */
  path(path: string): string {
    return join(this.#root, posix.resolve('/', path))
  }

  /** The sentinels that are gone or have another content. */
  damage(): string[] {
    return SENTINELS.filter((path) => !this.isIntact(path, `sentinel ${path}`))
  }

  /** Whether a file of the host has this content. */
  isIntact(path: string, content: string): boolean {
    const stat = lstatSync(this.path(path), { throwIfNoEntry: false })
    return stat?.isFile() === true && readFileSync(this.path(path), 'utf8') === content
  }

  dispose(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}
