import { FileSystemError } from '@helix-agents/core'
import {
  type FileAttributes,
  type FileEntry,
  type FileMode,
  isInnerTarget,
  normalizePath,
  type PathAhead,
  type ReadAheadOptions,
} from '@helix-agents/core/provider'
import type { DriverAttributes } from '../../driver/port.ts'
import type { FileCalls } from '../../lifecycle/live-sandbox.ts'
import { toContainerPath } from '../container-path.ts'
import { describePaths, readAhead } from './read-ahead.ts'

/** Links and permissions in a container, and many of its files in one round trip. */
export class SandboxAttributes implements Required<FileAttributes> {
  readonly #sandbox: FileCalls

  /** @param calls Calls on files, for paths without links. */
  constructor(calls: FileCalls) {
    this.#sandbox = calls
  }

  async readLink(path: string): Promise<string> {
    return this.#call(normalizePath(path), (attributes, at) => attributes.readLink(at))
  }

  async makeLink(path: string, target: string): Promise<void> {
    const normal = normalizePath(path)
    if (!isInnerTarget(normal, target)) {
      throw new FileSystemError('path-escape', path, { detail: 'the link may lead out' })
    }
    await this.#call(normal, (attributes, at) => attributes.makeLink(at, target))
  }

  async readMode(path: string): Promise<number> {
    const normal = normalizePath(path)
    const found = (await describePaths(this.#sandbox, [normal])).get(normal)
    if (found === undefined) throw new FileSystemError('not-found', path)
    return found.mode
  }

  async writeModes(
    modes: readonly FileMode[],
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    const wanted = modes.map(({ path, mode }) => ({
      path: toContainerPath(normalizePath(path)),
      mode,
    }))
    await this.#call('/', (attributes) => attributes.writeModes(wanted, signal))
  }

  readAhead(
    entries: readonly FileEntry[],
    options: ReadAheadOptions,
  ): Promise<Map<string, PathAhead>> {
    return readAhead(this.#sandbox, entries, options)
  }

  #call<T>(
    path: string,
    ask: (attributes: DriverAttributes, containerPath: string) => Promise<T>,
  ): Promise<T> {
    return this.#sandbox.callFile(path, ({ files }) => {
      if (files.attributes === undefined) throw new TypeError('the driver knows of no attributes')
      return ask(files.attributes, toContainerPath(path))
    })
  }
}
