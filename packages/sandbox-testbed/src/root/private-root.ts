import { chmodSync, existsSync, lchownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isRoot } from './bubblewrap.ts'
import type { Image } from './image.ts'
import { type ContainerLimits, type PrivateRoot, socketOf } from './mount-plan.ts'

/** Mount points are among them: made by others, they would be closed to users. */
const FOLDERS = [
  '.host/usr',
  'opt/testbed',
  'usr',
  'workspace',
  'home',
  'root',
  'tmp',
  'var/tmp',
  'var/log',
  'run',
  'etc',
  'mnt',
  'srv',
]
const ETC: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    passwd:
      'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n',
    group: 'root:x:0:\nnogroup:x:65534:\n',
    hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
    hostname: 'sandbox\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  }),
)
/** Processes that die at this moment may still add a file. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 } as const
/** Hosts with root rights give each container a user of its own, far from real ones. */
const FIRST_HOST_USER = 1_500_000_000
const HOST_USERS = 500_000_000

export interface NewRoot {
  readonly directory: string
  readonly image: Image
  readonly limits: ContainerLimits
}

/** Makes the disk of one container: empty but for what every system has. Else leaves nothing. */
export function createPrivateRoot(root: NewRoot): PrivateRoot {
  try {
    return fillRoot(root)
  } catch (error) {
    rmSync(root.directory, REMOVAL)
    throw error
  }
}

function fillRoot({ directory, image, limits }: NewRoot): PrivateRoot {
  makeFolders(directory)
  for (const [name, text] of ETC) {
    writeFileSync(join(directory, 'etc', name), text)
  }
  const resolver = '/etc/resolv.conf'
  writeFileSync(join(directory, resolver), existsSync(resolver) ? readFileSync(resolver) : '')
  for (const name of [...ETC.keys(), 'resolv.conf']) {
    chmodSync(join(directory, 'etc', name), 0o644)
  }
  for (const [path, text] of image.links) symlinkSync(text, join(directory, path))
  for (const folder of ['tmp', 'var/tmp']) chmodSync(join(directory, folder), 0o1777)
  const mounts = [
    ...image.mounts,
    { kind: 'proc', target: '/proc' } as const,
    { kind: 'dev', target: '/dev' } as const,
  ]
  if (!isRoot()) return { directory, mounts, limits }
  const hostUser = FIRST_HOST_USER + Math.floor(Math.random() * HOST_USERS)
  giveTo(hostUser, directory)
  return { directory, mounts, limits, hostUser }
}

/** Removes the disk of a container, and the socket of its server. */
export async function removeRoot({ directory }: PrivateRoot): Promise<void> {
  await Promise.all([rm(socketOf(directory), { force: true }), removeTree(directory)])
}

/** With rights that do not depend on the umask of the process. */
function makeFolders(directory: string): void {
  for (const folder of FOLDERS) mkdirSync(join(directory, folder), { recursive: true })
  for (const folder of ['', '.host', 'opt', 'var', ...FOLDERS]) {
    chmodSync(join(directory, folder), 0o755)
  }
}

function giveTo(user: number, directory: string): void {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  for (const path of ['', ...paths]) lchownSync(join(directory, path), user, user)
}

/** Removes a directory whatever its owner did to the rights of what is in it. */
export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, REMOVAL)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) throw error
    await openAll(directory)
    await rm(directory, REMOVAL)
  }
}

async function openAll(directory: string): Promise<void> {
  await chmod(directory, 0o700)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await openAll(join(directory, entry.name))
  }
}
