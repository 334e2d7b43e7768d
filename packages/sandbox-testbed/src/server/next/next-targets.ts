import { rmSync } from 'node:fs'
import { RpcTarget } from 'capnweb'
import { type ArchiveOptions, BackupTarget, type UploadRequest } from '../backup/backup-target.ts'
import type { Connection } from '../connection/connection.ts'
import type { Container } from '../container.ts'
import { NO_SESSION } from '../environment.ts'
import { FilesTarget } from '../files/files-target.ts'
import type { ListOptions } from '../files/list-files.ts'
import type { ReadEncoding } from '../files/read-file.ts'
import type { WriteOptions } from '../files/write-file.ts'
import { ServiceError } from '../service-error.ts'
import { ServiceTarget } from '../service-target.ts'

const CONTROL_PROTOCOL = 1
const LINE_VERSION = '0.13.0-next.751.1'

/** `utils` of the 0.13 line: which runtime this is, asked before anything else. */
export class NextUtilsTarget extends ServiceTarget {
  ping(): string {
    return 'healthy'
  }

  getRuntimeMetadata(): object {
    return {
      runtimeIncarnationID: this.container.bootId,
      sandboxVersion: LINE_VERSION,
      controlProtocolVersion: CONTROL_PROTOCOL,
    }
  }

  activateControlSession(expected: string): object {
    if (expected === this.container.bootId) return this.getRuntimeMetadata()
    const text = 'runtime incarnation does not match'
    throw new ServiceError('CONTROL_PROTOCOL_INCOMPATIBLE', text)
  }
}

/** `files` of the 0.13 line: those of 0.12 without sessions. */
export class NextFilesTarget extends RpcTarget {
  readonly #files: FilesTarget

  constructor(container: Container, connection: Connection) {
    super()
    this.#files = new FilesTarget(container, connection)
  }

  readFile(path: string, options: { readonly encoding?: ReadEncoding } = {}): Promise<object> {
    return this.#files.readFile(path, NO_SESSION, options)
  }

  readFileStream(path: string): Promise<ReadableStream<Uint8Array>> {
    return this.#files.readFileStream(path, NO_SESSION)
  }

  writeFile(path: string, content: string, options: WriteOptions = {}): object {
    return this.#files.writeFile(path, content, NO_SESSION, options)
  }

  writeFileStream(path: string, stream: ReadableStream<Uint8Array>): Promise<object> {
    return this.#files.writeFileStream(path, stream, NO_SESSION)
  }

  deleteFile(path: string): Promise<object> {
    return this.#files.deleteFile(path, NO_SESSION)
  }

  renameFile(oldPath: string, newPath: string): Promise<object> {
    return this.#files.renameFile(oldPath, newPath, NO_SESSION)
  }

  moveFile(sourcePath: string, destinationPath: string): Promise<object> {
    return this.#files.moveFile(sourcePath, destinationPath, NO_SESSION)
  }

  mkdir(path: string, options: { readonly recursive?: boolean } = {}): Promise<object> {
    return this.#files.mkdir(path, NO_SESSION, options)
  }

  listFiles(path: string, options: ListOptions = {}): Promise<object> {
    return this.#files.listFiles(path, NO_SESSION, options)
  }

  exists(path: string): Promise<object> {
    return this.#files.exists(path, NO_SESSION)
  }
}

/** `backup` of the 0.13 line, by a bucket of the Worker; not by presigned addresses alone. */
export class NextBackupTarget extends RpcTarget {
  readonly #backup: BackupTarget

  constructor(container: Container, connection: Connection) {
    super()
    this.#backup = new BackupTarget(container, connection)
  }

  createArchive(dir: string, archivePath: string, options: ArchiveOptions = {}): Promise<object> {
    return this.#backup.createArchive(dir, archivePath, NO_SESSION, options)
  }

  prepareRestore(): { readonly existingSize: number } {
    return { existingSize: 0 }
  }

  restoreArchive(dir: string, archivePath: string): Promise<object> {
    return this.#backup.restoreArchive(dir, archivePath, NO_SESSION)
  }

  async extractArchive(dir: string, archivePath: string): Promise<void> {
    await this.#backup.restoreArchive(dir, archivePath, NO_SESSION)
  }

  cleanupArchive(archivePath: string): void {
    rmSync(archivePath, { force: true })
  }

  uploadParts(request: UploadRequest): Promise<object> {
    return this.#backup.uploadParts(request)
  }
}
