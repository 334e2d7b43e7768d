import { decodeBase64, toBytes } from '@helix-agents/core/provider'
import { brokenContent, DriverError } from '../driver-error.ts'
import type { DriverFile, ReadManyOptions, ReadOptions } from '../port.ts'
import { decodeText } from '../script/file-reply.ts'
import { inCalls } from '../script/compose.ts'
import { readManyScript, readScript } from '../script/read-script.ts'
import type { ScriptReply } from '../script/reply.ts'
import type { FileLink } from './container-link.ts'
import { LARGE_BYTES } from './large-files.ts'
import { bytesStream, sliceStream } from './streams.ts'

/** Files that are read together come as base64 inside the answer: far below the frame of 16 MiB. */
const TOGETHER_BYTES = 8 * 1024 * 1024
/** A stream is for what may be large: only small files are worth sparing it. */
const STREAM_INLINE_BYTES = 256 * 1024
const FETCH_DEADLINE_MS = 60_000

export async function readBytes(
  link: FileLink,
  path: string,
  options: ReadOptions,
): Promise<Uint8Array> {
  const content = await open(link, path, { options, inlineBytes: LARGE_BYTES })
  if ('bytes' in content) return content.bytes
  const bytes = await new Response(content.stream).bytes().catch((error: unknown) => {
    throw brokenContent(error)
  })
  if (bytes.length === content.lengthBytes) return bytes
  throw changed()
}

export async function readStream(
  link: FileLink,
  path: string,
  options: ReadOptions,
): Promise<ReadableStream<Uint8Array>> {
  const content = await open(link, path, { options, inlineBytes: STREAM_INLINE_BYTES })
  return 'bytes' in content ? bytesStream(content.bytes) : content.stream
}

type Content =
  | { readonly bytes: Uint8Array }
  | { readonly stream: ReadableStream<Uint8Array>; readonly lengthBytes: number }

interface Opening {
  readonly options: ReadOptions
  readonly inlineBytes: number
  readonly isBinary?: boolean
}

/** A file that was large when it was last seen is fetched while the script still checks it. */
async function open(link: FileLink, path: string, opening: Opening): Promise<Content> {
  const early = link.largeFiles.has(path) ? fetchEarly(link, path, opening.options) : undefined
  try {
    const asked = await ask(link, path, opening)
    const text = asked.status === 'plain' ? textOf(asked) : undefined
    if (text !== undefined) return { bytes: text }
    const isBinary = asked.status === 'plain'
    const reply = isBinary ? await ask(link, path, { ...opening, isBinary }) : asked
    if (reply.status !== 'large') return { bytes: contentOf(reply) }
    link.largeFiles.record(path, Number(reply.fields[0]))
    const target = decodeText(reply.payload)
    const stream = await (early?.take(target) ?? fetchFile(link, target, opening.options))
    return slice(stream, Number(reply.fields[0]), opening.options)
  } finally {
    await early?.drop()
  }
}

/** A stream on its way, of which nothing is used before the path is known to be allowed. */
function fetchEarly(
  link: FileLink,
  path: string,
  options: ReadOptions,
): {
  take(target: string): Promise<ReadableStream<Uint8Array>>
  drop(): Promise<void>
} {
  let isTaken = false
  const fetched = Promise.allSettled([fetchFile(link, path, options)])
  return {
    take: async (target) => {
      const [result] = await fetched
      if (target !== path || result.status === 'rejected') return fetchFile(link, target, options)
      isTaken = true
      return result.value
    },
    drop: async () => {
      if (isTaken) return
      const [result] = await fetched
      if (result.status === 'fulfilled') await result.value.cancel()
    },
  }
}

export async function readMany(
  link: FileLink,
  paths: readonly string[],
  { maxBytes, signal }: ReadManyOptions,
): Promise<readonly DriverFile[]> {
  const [asked = []] = inCalls(paths, (path) => path)
  if (asked.length === 0) return []
  const script = readManyScript(asked, Math.min(maxBytes, TOGETHER_BYTES))
  const { payload } = await link.ask(script, {
    isRepeatable: true,
    ...(signal !== undefined && { signal }),
  })
  return filesOf(payload, asked)
}

/** The answer in the order asked for; it may end early. */
function filesOf(payload: string, asked: readonly string[]): readonly DriverFile[] {
  const files: DriverFile[] = []
  let at = 0
  for (const path of asked) {
    const end = payload.indexOf('\n', at)
    if (end < 0) break
    const line = payload.slice(at, end)
    const textLength = line.startsWith('=') ? Number(line.slice(1)) : 0
    const text = payload.slice(end + 1, end + 1 + textLength)
    if (line === '-') files.push({ path })
    else files.push({ path, bytes: line.startsWith('=') ? toBytes(text) : decodeBase64(line) })
    at = end + 1 + (line.startsWith('=') ? textLength + 1 : 0)
  }
  return files
}

function ask(
  link: FileLink,
  path: string,
  { options, inlineBytes, isBinary = false }: Opening,
): Promise<ScriptReply> {
  const { offset = 0, length, maxBytes, signal } = options
  const script = readScript(path, {
    offset,
    inlineBytes,
    isBinary,
    ...(length !== undefined && { length }),
    ...(maxBytes !== undefined && { maxBytes }),
  })
  return link.ask(script, { isRepeatable: true, ...(signal !== undefined && { signal }) })
}

/** What no text can be came with replacement characters: it has to be asked for again. */
function textOf({ payload, fields }: ScriptReply): Uint8Array | undefined {
  if (payload.includes('\uFFFD')) return undefined
  const bytes = new TextEncoder().encode(payload)
  if (bytes.length === Number(fields[0])) return bytes
  throw changed()
}

function contentOf({ payload, fields }: ScriptReply): Uint8Array {
  const bytes = decodeBase64(payload)
  if (bytes.length === Number(fields[0])) return bytes
  throw changed()
}

function changed(): DriverError {
  return new DriverError('interrupted', 'the file changed while it was read', { admitted: 'yes' })
}

function fetchFile(
  { runner }: FileLink,
  path: string,
  { signal }: ReadOptions,
): Promise<ReadableStream<Uint8Array>> {
  const call = { deadlineMs: FETCH_DEADLINE_MS, isRepeatable: true }
  return runner.fetch(path, { ...call, ...(signal !== undefined && { signal }) })
}

function slice(
  stream: ReadableStream<Uint8Array>,
  sizeBytes: number,
  { offset = 0, length = Infinity }: ReadOptions,
): Content {
  const lengthBytes = Math.max(0, Math.min(length, sizeBytes - offset))
  if (lengthBytes === sizeBytes) return { stream, lengthBytes }
  return { stream: sliceStream(stream, offset, lengthBytes), lengthBytes }
}
