import { readText } from './bytes.ts'
import type { FileStat, FileSystem } from '../contract.ts'
import { LinePager, type Page, type PageRequest } from './line-pager.ts'
import { createSearchPace, type SearchPace } from '../search/search-pace.ts'

const MB = 1_048_576
/** Larger files are read as a stream, whatever the policy allows. */
const MAX_WHOLE_BYTES = 10 * MB
/** In larger files, lines are counted only as far as the page goes. */
export const MAX_COUNTED_BYTES = 64 * MB
/** So far a call looks for the lines of a page. */
export const MAX_SCANNED_BYTES = 1024 * MB
/** A NUL among the first characters makes a file binary. */
const SNIFFED_CHARACTERS = 8192
/** Characters between two readings of the clock. */
const CHUNK_CHARACTERS = 65_536

/** A file of which a page is wanted. */
export interface PageSource {
  readonly fs: FileSystem
  readonly stat: FileStat
  /** Larger files are read as a stream, in bytes. */
  readonly maxFileBytes: number
  readonly signal: AbortSignal
}

/**
 * Reads one page of a text file; undefined for a binary one. What is read is bounded: the first
 * bytes decide whether it is binary; a file of more than 64 MB is read to the end of the page, and no
 * file further than 1 GB. Lets others run every few milliseconds, and ends there after an abort.
 */
export async function readPage(
  source: PageSource,
  request: PageRequest,
): Promise<Page | undefined> {
  const reading = new PageReading(source.stat.size, request)
  if (source.stat.size > Math.min(MAX_WHOLE_BYTES, source.maxFileBytes))
    await pushStream(reading, source)
  else await pushText(reading, await readText(source.fs, source.stat.path), source.signal)
  return reading.end()
}

/** What has been read of a file so far. */
class PageReading {
  readonly #pager: LinePager
  readonly #isCounted: boolean
  readonly pace: SearchPace = createSearchPace()
  #sniffed = 0
  #isBinary = false

  constructor(size: number, request: PageRequest) {
    this.#pager = new LinePager(request)
    this.#isCounted = size <= MAX_COUNTED_BYTES
  }

  /** True when no more text is wanted. */
  get isDone(): boolean {
    return this.#isBinary || (this.#pager.isFull && !this.#isCounted)
  }

  isPartial = false

  push(text: string): void {
    if (this.#sniffed < SNIFFED_CHARACTERS) {
      this.#isBinary ||= text.slice(0, SNIFFED_CHARACTERS - this.#sniffed).includes('\0')
      this.#sniffed += text.length
    }
    if (!this.#isBinary) this.#pager.push(text)
  }

  end(): Page | undefined {
    if (this.#isBinary) return undefined
    const page = this.#pager.end(this.isPartial)
    return page.content.includes('\0') ? undefined : page
  }
}

async function pushText(reading: PageReading, text: string, signal: AbortSignal): Promise<void> {
  for (let start = 0; start < text.length && !reading.isDone; start += CHUNK_CHARACTERS) {
    const chunk = text.slice(start, start + CHUNK_CHARACTERS)
    reading.push(chunk)
    await reading.pace.rest(chunk.length, signal)
  }
}

async function pushStream(reading: PageReading, source: PageSource): Promise<void> {
  const { fs, stat, signal } = source
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let bytes = 0
  for await (const part of await fs.readStream(stat.path, { signal })) {
    bytes += part.byteLength
    await pushText(reading, decoder.decode(part, { stream: true }), signal)
    reading.isPartial = reading.isDone || bytes >= MAX_SCANNED_BYTES
    if (reading.isPartial) return
  }
  await pushText(reading, decoder.decode(), signal)
}
