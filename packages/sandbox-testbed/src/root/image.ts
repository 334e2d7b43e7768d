import { createHash } from 'node:crypto'
import { chmodSync, linkSync, lstatSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { constants, copyFileSync, existsSync, readlinkSync, realpathSync } from 'node:fs'
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRoot } from './bubblewrap.ts'
import { isOpenToAll, isReachableByAll } from './host-programs.ts'
import type { Mount } from './mount-plan.ts'
import { findPython } from './python.ts'

/**
 * What is in a container, after the images of the SDK: the lean one, which has no Python; the one
 * with Python and IPython (tag `-python`); one of your own, with Python alone.
 */
export type ContainerImage = 'default' | 'python' | 'plain-python'

/** Where a container finds the container server. */
export const SERVER_PATH = '/opt/testbed/server.mjs'
/** Where the container server listens; the engine takes the socket out as soon as it is there. */
export const SOCKET_PATH = '/opt/testbed/server.sock'
/** Where a container finds Node. */
export const NODE_PATH = '/usr/local/bin/node'
/** The host's `/usr` as it is; the program folders of a container link into it. */
const HOST_USR = '/.host/usr'
const TOP_LEVEL = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']
const SYSTEM_FILES = ['alternatives', 'ssl', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d']
const PYTHON_PROGRAM = /^(?:i?python|pip|pydoc)/
/** The SDK calls this by its full path; the container server knows the archives that it made. */
const UNSQUASHFS = `#!/bin/sh\nexec ${NODE_PATH} ${SERVER_PATH} unsquashfs "$@"\n`

/** What all containers of a test bed share, read-only. */
export interface Image {
  readonly mounts: readonly Mount[]
  /** Links that each root needs: path to text. */
  readonly links: ReadonlyMap<string, string>
}

/**
 * Prepares the shared part of all roots: the host's programs, and beside them this Node, Python and
 * the programs that the SDK calls by their full path.
 *
 * @param directory a directory on the host for the prepared files.
 * @param serverFile the container server, one file.
 */
export function prepareImage(
  directory: string,
  serverFile: string,
  kind: ContainerImage = 'default',
): Image {
  const image = new ImageBuilder(directory, kind !== 'default')
  image.show('/usr', HOST_USR)
  image.prepareUsr()
  image.prepareTopLevel()
  for (const name of SYSTEM_FILES) image.show(`/etc/${name}`)
  image.showProgram(process.execPath, NODE_PATH)
  image.show(serverFile, SERVER_PATH)
  const python = kind === 'default' ? undefined : findPython()
  if (python !== undefined) image.showPython(python)
  return image
}

/** Where a container of {@link prepareProbeImage} finds Node. */
export const PROBE_NODE_PATH = '/opt/testbed/node'

/** Just enough to try whether a program starts in a private root; made in no time. */
export function prepareProbeImage(directory: string): Image {
  makeDirectory(directory)
  const image = new ImageBuilder(directory, true)
  image.show('/usr')
  image.prepareTopLevel()
  image.show('/etc/ld.so.cache')
  image.showProgram(process.execPath, PROBE_NODE_PATH)
  return image
}

class ImageBuilder implements Image {
  readonly mounts: Mount[] = []
  readonly links = new Map<string, string>()
  readonly #directory: string
  readonly #hasPython: boolean

  constructor(directory: string, hasPython: boolean) {
    this.#directory = directory
    this.#hasPython = hasPython
  }

  /** Shows a file or directory of the host read-only; leaves out what the host does not have. */
  show(source: string, target = source): void {
    if (existsSync(source)) this.mounts.push({ kind: 'read-only', source, target })
  }

  /** Own program folders full of links, so that programs can be added without touching the host. */
  prepareUsr(): void {
    const usr = join(this.#directory, 'usr')
    this.show(makeDirectory(usr), '/usr')
    this.#mirror('/usr', usr, ['bin', 'local'])
    const bin = makeDirectory(join(usr, 'bin'))
    const programs = this.#programsOf('bin', { unsquashfs: UNSQUASHFS })
    const shared = sharedFolder(programs)
    if (shared === undefined) linkPrograms(bin, programs)
    else this.show(shared, '/usr/bin')
    makeDirectory(join(usr, 'local'))
    if (existsSync('/usr/local')) this.#mirror('/usr/local', join(usr, 'local'), ['bin'])
    linkPrograms(join(usr, 'local/bin'), this.#programsOf('local/bin', { node: '' }))
  }

  /** `/bin` and its like are links into `/usr` on merged systems, directories on others. */
  prepareTopLevel(): void {
    for (const name of TOP_LEVEL) {
      const path = `/${name}`
      if (!existsSync(path)) continue
      if (lstatSync(path).isSymbolicLink()) this.links.set(path, readlinkSync(path))
      else this.show(path)
    }
  }

  /** Shows one program; by another name where possible, as its folder shows something of the host. */
  showProgram(source: string, target: string): void {
    const copy = join(this.#directory, 'node')
    try {
      linkSync(source, copy)
    } catch {
      if (isOpenToAll(source)) return this.show(source, target)
      copyFileSync(source, copy, constants.COPYFILE_FICLONE)
      chmodSync(copy, 0o755)
    }
    this.show(copy, target)
  }

  showPython({ prefix, executable }: { prefix: string; executable: string }): void {
    this.show(prefix)
    symlinkSync(executable, join(this.#directory, 'usr/local/bin/python3'))
  }

  /** Repeats the entries of a host directory: directories by mounts, links as they are. */
  #mirror(source: string, copy: string, except: readonly string[]): void {
    for (const entry of readdirSync(source, { withFileTypes: true })) {
      if (except.includes(entry.name)) continue
      const path = join(source, entry.name)
      if (entry.isSymbolicLink()) symlinkSync(readlinkSync(path), join(copy, entry.name))
      if (!entry.isDirectory()) continue
      makeDirectory(join(copy, entry.name))
      this.show(path)
    }
  }

  #programsOf(folder: string, added: Readonly<Record<string, string>>): Programs {
    const names = existsSync(`/usr/${folder}`) ? readdirSync(`/usr/${folder}`) : []
    const links = names
      .filter((name) => !(name in added) && (this.#hasPython || !PYTHON_PROGRAM.test(name)))
      .map((name): readonly [string, string] => [name, join(HOST_USR, folder, name)])
    return { links, files: Object.entries(added) }
  }
}

interface Programs {
  /** Names, and where each leads. */
  readonly links: readonly (readonly [name: string, target: string])[]
  /** Names and texts. */
  readonly files: readonly (readonly [name: string, text: string])[]
}

function linkPrograms(folder: string, { links, files }: Programs): void {
  makeDirectory(folder)
  for (const [name, target] of links) symlinkSync(target, join(folder, name))
  for (const [name, text] of files) {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), 0o755)
  }
}

/**
 * Folders of programs that all test beds of a host share, below `HELIX_TESTBED_CACHE`: a thousand
 * links take a while. Undefined without this variable, and where containers would not get there.
 */
function sharedFolder(programs: Programs): string | undefined {
  const cache = process.env.HELIX_TESTBED_CACHE
  if (cache === undefined) return undefined
  mkdirSync(cache, { recursive: true })
  if (isRoot() && !isReachableByAll(realpathSync(cache))) return undefined
  const digest = createHash('sha256').update(JSON.stringify(programs)).digest('hex')
  const folder = join(cache, `programs-${digest.slice(0, 32)}`)
  if (existsSync(folder)) return folder
  const draft = mkdtempSync(join(cache, 'draft-'))
  linkPrograms(draft, programs)
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another test bed was there first.
    if (!existsSync(folder)) throw error
  }
  return folder
}

function makeDirectory(path: string): string {
  mkdirSync(path, { recursive: true })
  // Whatever the umask of the process is, containers must get in.
  chmodSync(path, 0o755)
  return path
}
