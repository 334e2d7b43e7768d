import { FileSystemError } from '@helix-agents/core'
import { decodeText, type FileSystem } from '@helix-agents/core/provider'
import type { FileCall, FileReply } from '../protocol.ts'

/** Files that are larger are not read whole into the memory of the code. */
const MAX_READ_BYTES = 16 * 1024 * 1024
const MAX_PATHS = 10_000

/** Codes as Node has them: what code written for it tests for. */
const NODE_CODES: ReadonlyMap<string, string> = new Map([
  ['not-found', 'ENOENT'],
  ['already-exists', 'EEXIST'],
  ['is-directory', 'EISDIR'],
  ['not-directory', 'ENOTDIR'],
  ['not-empty', 'ENOTEMPTY'],
  ['permission-denied', 'EACCES'],
  ['path-escape', 'EACCES'],
  ['read-only', 'EROFS'],
  ['too-large', 'EFBIG'],
  ['storage-full', 'ENOSPC'],
])

type Operation = (files: FileSystem, call: FileCall) => Promise<FileReply>

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['readFile', readFile],
  [
    'writeFile',
    async (files, call) => {
      await files.writeFile(textAt(call, 0), call.data ?? '')
      return {}
    },
  ],
  [
    'appendFile',
    async (files, call) => {
      await files.appendFile(textAt(call, 0), call.data ?? '')
      return {}
    },
  ],
  [
    'readdir',
    async (files, call) => {
      const entries = await files.ls(textAt(call, 0))
      return json(entries.map(({ name, type }) => ({ name, type })))
    },
  ],
  [
    'stat',
    async (files, call) => {
      const { type, size, mtime } = await files.stat(textAt(call, 0))
      return json({ type, size, mtimeMs: mtime.getTime() })
    },
  ],
  [
    'mkdir',
    async (files, call) => {
      await files.mkdir(textAt(call, 0), { recursive: call.args[1] === true })
      return {}
    },
  ],
  [
    'rm',
    async (files, call) => {
      await files.rm(textAt(call, 0), { recursive: call.args[1] === true })
      return {}
    },
  ],
  [
    'rename',
    async (files, call) => {
      await files.move(textAt(call, 0), textAt(call, 1), { overwrite: true })
      return {}
    },
  ],
  [
    'copyFile',
    async (files, call) => {
      await files.copy(textAt(call, 0), textAt(call, 1), { overwrite: true })
      return {}
    },
  ],
  ['glob', async (files, call) => json(await files.glob(textAt(call, 0), { limit: MAX_PATHS }))],
])

/**
 * Does what code asks of the files. A failure that code can mend is a reply.
 * @throws every other failure, such as that of a backend that is gone.
 */
export async function runFileCall(files: FileSystem, call: FileCall): Promise<FileReply> {
  const operation = OPERATIONS.get(call.op)
  if (operation === undefined) throw new TypeError(`no operation ${call.op} on files`)
  try {
    return await operation(files, call)
  } catch (error) {
    if (!FileSystemError.isInstance(error)) throw error
    const { name, code, message } = error
    return { failure: { name, code: NODE_CODES.get(code) ?? code, message } }
  }
}

async function readFile(files: FileSystem, call: FileCall): Promise<FileReply> {
  const path = textAt(call, 0)
  const { size } = await files.stat(path)
  if (size > MAX_READ_BYTES) {
    throw new FileSystemError('too-large', path, {
      detail: `${size} bytes, and code reads files of at most ${MAX_READ_BYTES} bytes`,
    })
  }
  const bytes = await files.readFile(path)
  return call.args[1] === true ? json(decodeText(bytes)) : { bytes }
}

function json(value: unknown): FileReply {
  return { json: JSON.stringify(value) }
}

function textAt({ args }: FileCall, index: number): string {
  const given = args[index]
  if (typeof given === 'string') return given
  throw new TypeError('a path is a string')
}
