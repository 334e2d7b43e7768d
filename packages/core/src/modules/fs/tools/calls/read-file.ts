import { FileSystemError } from '../../../../errors/file-system-error.ts'
import type { ModuleToolCall, ModuleToolWork } from '../../../define-module.ts'
import type { FileSystemConfig } from '../../config.ts'
import type { FileStat, FileSystem } from '../../contract.ts'
import { workspacePath } from '../../path/workspace-path.ts'
import { resultLimits } from '../../result-limits.ts'
import { hasWindowsLineEnds } from '../../text/line-endings.ts'
import type { Page } from '../../text/line-pager.ts'
import { numberLines } from '../../text/page-text.ts'
import { MAX_SCANNED_BYTES, readPage } from '../../text/read-page.ts'
import type { ReadLines } from '../../versions/file-versions.ts'

const BYTES_PER_MB = 1_048_576

/** The arguments of `read_file`. */
export interface ReadFileInput {
  readonly path: string
  readonly offset?: number
  readonly limit?: number
  readonly column?: number
}

/** One page of a text file, or what a binary file is. */
export interface ReadFileOutput {
  readonly path: string
  /** Bytes of the whole file. */
  readonly size: number
  readonly version: string
  readonly isBinary: boolean
  /** Absent for a binary file. */
  readonly page?: Page
  /** The limit that was asked for, to be repeated for the next page. */
  readonly limit?: number
}

export const readFileWork: ModuleToolWork<
  FileSystem,
  FileSystemConfig,
  ReadFileInput,
  ReadFileOutput
> = { execute: readFilePage, toModelOutput: renderPage }

async function readFilePage(
  call: ModuleToolCall<FileSystem, FileSystemConfig, ReadFileInput>,
): Promise<ReadFileOutput> {
  const { module, config, input, context } = call
  const path = await workspacePath(input.path, context)
  // Before the content: a write in between makes this version old, never the content.
  const stat = await module.stat(path)
  if (stat.type === 'directory') throw new FileSystemError('is-directory', input.path)
  const page = await readPage(
    {
      fs: module,
      stat: { ...stat, path },
      maxFileBytes: config.maxFileSizeMb * BYTES_PER_MB,
      signal: context.signal,
    },
    {
      offset: input.offset ?? 1,
      column: input.column ?? 1,
      limit: input.limit ?? resultLimits.readLines,
      maxCharacters: resultLimits.characters,
    },
  )
  const lines = page === undefined ? undefined : seen(page)
  context.ledger.recordRead(context.actor, path, stat.version, lines)
  return toOutput(stat, page, input.limit)
}

/** Lines that were shown to their end. */
function seen(page: Page): ReadLines | undefined {
  if (page.totalLines === 0) return undefined
  if (page.firstLine === 0) return { first: 1, last: 0, total: page.totalLines }
  const isCut = page.next?.column !== undefined
  return {
    first: page.firstLine,
    last: isCut ? page.lastLine - 1 : page.lastLine,
    total: page.totalLines,
  }
}

function toOutput(
  stat: FileStat,
  page: Page | undefined,
  limit: number | undefined,
): ReadFileOutput {
  return {
    path: stat.path,
    size: stat.size,
    version: stat.version,
    isBinary: page === undefined,
    ...(page !== undefined && { page }),
    ...(limit !== undefined && { limit }),
  }
}

function renderPage(output: ReadFileOutput): string {
  const { page } = output
  if (page === undefined) return `${output.path}: binary file, ${output.size} bytes; not shown`
  if (page.totalLines === 0) return `${output.path}: empty file, 0 lines`
  if (page.firstLine === 0) {
    return page.isPartial
      ? `${output.path}: the offset is past the first ${MAX_SCANNED_BYTES} bytes, which hold ${page.totalLines} lines; so far a call looks. Cut the file with a command first.`
      : `${output.path}: the offset is past the end; the file has ${page.totalLines} lines`
  }
  const { content } = page
  const lineEnds = hasWindowsLineEnds(content) ? ', CRLF line ends' : ''
  const isOpenEnd = page.next === undefined && !content.endsWith('\n')
  const end = isOpenEnd ? ', no line end at the end' : ''
  const total = page.isPartial ? `at least ${page.totalLines}` : page.totalLines
  const lines = `lines ${page.firstLine}-${page.lastLine} of ${total}`
  const header = `${output.path}: ${lines}, ${output.size} bytes${lineEnds}${end}\n`
  return header + numberLines(page) + renderNext(output, page)
}

function renderNext(output: ReadFileOutput, page: Page): string {
  const { next } = page
  if (next === undefined) return ''
  const column = next.column === undefined ? '' : `, column: ${next.column}`
  const limit = output.limit === undefined ? '' : `, limit: ${output.limit}`
  const what =
    next.column === undefined ? `lines ${next.offset}` : `the rest of line ${next.offset}`
  const end = page.isPartial ? 'the end' : page.totalLines
  return `[${what} to ${end} not shown; continue with offset: ${next.offset}${column}${limit}]`
}
