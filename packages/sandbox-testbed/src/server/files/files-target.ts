import { existsSync } from 'node:fs'
import { extname, isAbsolute } from 'node:path'
import { NO_SESSION } from '../environment.ts'
import { timestamp } from '../server-sent-events.ts'
import { ServiceError } from '../service-error.ts'
import { deleteOne, makeDirectory, moveOne } from './change-files.ts'
import { checkPath, notFound, toFileError } from './file-error.ts'
import { type ListOptions, listDirectory } from './list-files.ts'
import {
  type NamedFile,
  readAsEvents,
  readAsStream,
  type ReadEncoding,
  readWhole,
} from './read-file.ts'
import { type WriteOptions, writeStream, writeWhole } from './write-file.ts'
import { ServiceTarget } from '../service-target.ts'

/**
 * `files`. All but writing happens where the commands of the session would run, so it waits for
 * them, and fails with them when there is no directory to run in.
 */
export class FilesTarget extends ServiceTarget {
  async readFile(
    path: string,
    sessionId: string,
    options: { readonly encoding?: ReadEncoding } = {},
  ): Promise<object> {
    await this.#sniff(path)
    return this.#at(sessionId, path, (file) =>
      options.encoding === 'none' ? readAsStream(file) : readWhole(file, options.encoding),
    )
  }

  async readFileStream(path: string, sessionId: string): Promise<ReadableStream<Uint8Array>> {
    await this.#sniff(path)
    return this.#at(sessionId, path, readAsEvents)
  }

  writeFile(path: string, content: string, sessionId: string, options: WriteOptions = {}): object {
    return writeWhole(this.#resolved(sessionId, path), content, options)
  }

  writeFileStream(
    path: string,
    stream: ReadableStream<Uint8Array>,
    sessionId: string,
  ): Promise<object> {
    return writeStream(this.#resolved(sessionId, path), stream)
  }

  deleteFile(path: string, sessionId: string): Promise<object> {
    return this.#at(sessionId, path, deleteOne)
  }

  renameFile(oldPath: string, newPath: string, sessionId: string): Promise<object> {
    checkPath(newPath)
    return this.#at(sessionId, oldPath, (from, cwd) =>
      moveOne(from, resolveIn(cwd, newPath), 'rename'),
    )
  }

  moveFile(sourcePath: string, destinationPath: string, sessionId: string): Promise<object> {
    checkPath(destinationPath)
    return this.#at(sessionId, sourcePath, (from, cwd) =>
      moveOne(from, resolveIn(cwd, destinationPath), 'move'),
    )
  }

  async mkdir(
    path: string,
    sessionId: string,
    options: { readonly recursive?: boolean } = {},
  ): Promise<object> {
    await this.container.costs.pay('mkdir')
    return this.#at(sessionId, path, (file) => makeDirectory(file, options.recursive ?? false))
  }

  async listFiles(path: string, sessionId: string, options: ListOptions = {}): Promise<object> {
    await this.container.costs.pay('listFiles')
    try {
      return await this.#at(sessionId, path, (file) => listDirectory(file, options))
    } catch (error) {
      // The check that comes before a listing cannot tell "nothing there" from "cannot look".
      const isBlind = error instanceof ServiceError && error.code === 'COMMAND_EXECUTION_ERROR'
      throw isBlind && sessionId === NO_SESSION ? notFound({ operation: 'list', path }) : error
    }
  }

  async exists(path: string, sessionId: string): Promise<object> {
    await this.container.costs.pay('exists')
    return this.#at(sessionId, path, (file) => {
      const exists = existsSync(file.resolved)
      return { success: true, path, exists, timestamp: timestamp() }
    })
  }

  async #at<T>(
    sessionId: string,
    path: string,
    work: (file: NamedFile, cwd: string) => T | Promise<T>,
  ): Promise<T> {
    checkPath(path)
    return this.container.sessions.at(sessionId, async (cwd) => {
      try {
        return await work(resolveIn(cwd, path), cwd)
      } catch (error) {
        throw toFileError(error, { operation: 'access', path })
      }
    })
  }

  async #sniff(path: string): Promise<void> {
    if (extname(path) === '') await this.container.costs.pay('sniff')
  }

  #resolved(sessionId: string, path: string): NamedFile {
    checkPath(path)
    return resolveIn(this.container.sessions.directoryOf(sessionId), path)
  }
}

/** Keeps a slash at the end: it makes a link to a directory count as one. */
function resolveIn(cwd: string, path: string): NamedFile {
  return { path, resolved: isAbsolute(path) ? path : `${cwd}/${path}` }
}
