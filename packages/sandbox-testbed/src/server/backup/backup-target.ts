import { execFile } from 'node:child_process'
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, ServiceError } from '../service-error.ts'
import { UNSQUASHFS_SHIM } from './unsquashfs-shim.ts'
import { ServiceTarget } from '../service-target.ts'

export interface ArchiveOptions {
  /** Wildcards, matched from the root of the directory; a star does not cross a slash. */
  readonly excludes?: readonly string[]
  /** Leaves out what git ignores, where there is a repository. */
  readonly gitignore?: boolean
}

export interface UploadRequest {
  readonly archivePath: string
  readonly parts: readonly {
    readonly partNumber: number
    readonly url: string
    readonly offset: number
    readonly size: number
  }[]
}

const run = promisify(execFile)

/** The exit code of tar for files that changed while they were read. */
const TAR_CHANGED = 1

const OUTPUT_BYTES = 64 * 1024 * 1024

/** Bytes of the head of a squashfs archive. */
const HEAD_BYTES = 96
const MAGIC = 'hsqs'

/**
 * `backup`: archives of directories. They are compressed tar files behind the names of squashfs, and
 * behind its head as well: the magic number, and how many inodes there are.
 */
export class BackupTarget extends ServiceTarget {
  createArchive(
    dir: string,
    archivePath: string,
    sessionId: string,
    options: ArchiveOptions = {},
  ): Promise<object> {
    return this.container.sessions.at(sessionId, async () => {
      try {
        mkdirSync(dirname(archivePath), { recursive: true })
        await pack(dir, archivePath, options)
      } catch (error) {
        rmSync(archivePath, { force: true })
        const text = `cannot archive ${dir}: ${messageOf(error)}`
        throw new ServiceError('BACKUP_CREATE_FAILED', text, { dir, stderr: messageOf(error) })
      }
      return { success: true, sizeBytes: statSync(archivePath).size, archivePath }
    })
  }

  restoreArchive(dir: string, archivePath: string, sessionId: string): Promise<object> {
    return this.container.sessions.at(sessionId, async () => {
      const args = ['-c', UNSQUASHFS_SHIM, 'unsquashfs', '-f', '-d', dir, archivePath]
      await run('/bin/sh', args).catch((error: unknown) => {
        const text = `cannot restore ${dir}: ${messageOf(error)}`
        throw new ServiceError('BACKUP_RESTORE_FAILED', text, { dir, stderr: messageOf(error) })
      })
      return { success: true, dir }
    })
  }

  /** Puts ranges of an archive to presigned addresses. */
  async uploadParts(request: UploadRequest): Promise<object> {
    const parts = []
    for (const part of request.parts) {
      const body = readRange(request.archivePath, part.offset, part.size)
      // oxlint-disable-next-line no-await-in-loop -- one part in memory at a time
      const response = await fetch(part.url, { method: 'PUT', body })
      const etag = response.headers.get('etag')
      if (!response.ok || etag === null) {
        const text = `part ${part.partNumber} was refused: ${response.status}`
        throw new ServiceError('BACKUP_CREATE_FAILED', text, { dir: request.archivePath })
      }
      parts.push({ partNumber: part.partNumber, etag })
    }
    return { success: true, parts }
  }
}

async function pack(dir: string, archivePath: string, options: ArchiveOptions): Promise<void> {
  const ignored = options.gitignore === true ? await ignoredByGit(dir) : []
  const packed = `${archivePath}.tar`
  // Of a link there is the link alone, as with the real program.
  const isLink = lstatSync(dir).isSymbolicLink()
  const source = isLink ? ['-C', dirname(dir), basename(dir)] : ['-C', dir, '.']
  const args = [
    '--create',
    `--file=${packed}`,
    '--anchored',
    '--wildcards',
    '--no-wildcards-match-slash',
    ...(options.excludes ?? []).map((pattern) => `--exclude=./${pattern}`),
    '--no-wildcards',
    ...ignored.map((path) => `--exclude=./${path}`),
    ...source,
  ]
  try {
    await run('tar', args).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === TAR_CHANGED) return
      throw error
    })
    const inodes = (await countInodes(packed)) + (isLink ? 1 : 0)
    writeHead(archivePath, inodes)
    await run('sh', ['-c', 'gzip -1 <"$1" >>"$2"', 'sh', packed, archivePath])
  } finally {
    rmSync(packed, { force: true })
  }
}

/** Names that are hard links share one with the first of them. */
async function countInodes(packed: string): Promise<number> {
  const args = ['-c', 'tar --list --verbose --file="$1" | grep -c "^[^h]"', 'sh', packed]
  return Number((await run('sh', args)).stdout)
}

function writeHead(path: string, inodes: number): void {
  const head = Buffer.alloc(HEAD_BYTES)
  head.write(MAGIC, 'latin1')
  head.writeUInt32LE(inodes, MAGIC.length)
  const fd = openSync(path, 'w')
  writeSync(fd, head)
  closeSync(fd)
}

async function ignoredByGit(dir: string): Promise<string[]> {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const options = { cwd: dir, maxBuffer: OUTPUT_BYTES }
  // Outside a repository, or without git, nothing is ignored.
  const listed = await run('git', args, options).catch(() => ({ stdout: '' }))
  return listed.stdout
    .split('\0')
    .filter((path) => path !== '')
    .map((path) => path.replace(/\/$/, ''))
}

function readRange(path: string, offset: number, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  const fd = openSync(path, 'r')
  try {
    let filled = 0
    while (filled < size) {
      const count = readSync(fd, bytes, filled, size - filled, offset + filled)
      if (count === 0) break
      filled += count
    }
    return bytes.subarray(0, filled)
  } finally {
    closeSync(fd)
  }
}
