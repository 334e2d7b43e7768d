import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readlinkSync } from 'node:fs'
import { constants, copyFileSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOpenToAll } from './host-programs.ts'
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
    this.#linkPrograms('bin', { unsquashfs: UNSQUASHFS })
    makeDirectory(join(usr, 'local'))
    if (existsSync('/usr/local')) this.#mirror('/usr/local', join(usr, 'local'), ['bin'])
    this.#linkPrograms('local/bin', { node: '' })
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

  #linkPrograms(folder: string, added: Readonly<Record<string, string>>): void {
    const copy = makeDirectory(join(this.#directory, 'usr', folder))
    const names = existsSync(`/usr/${folder}`) ? readdirSync(`/usr/${folder}`) : []
    for (const name of names) {
      if (!this.#hasPython && PYTHON_PROGRAM.test(name)) continue
      if (!(name in added)) symlinkSync(join(HOST_USR, folder, name), join(copy, name))
    }
    for (const [name, text] of Object.entries(added)) {
      writeFileSync(join(copy, name), text)
      chmodSync(join(copy, name), 0o755)
    }
  }
}

function makeDirectory(path: string): string {
  mkdirSync(path, { recursive: true })
  // Whatever the umask of the process is, containers must get in.
  chmodSync(path, 0o755)
  return path
}
