import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'

/** What a file holds. */
export interface ContentKind {
  readonly isBinary: boolean
  readonly mimeType: string
}

const TEXT_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    '.css': 'text/css',
    '.csv': 'text/csv',
    '.html': 'text/html',
    '.js': 'application/javascript',
    '.json': 'application/json',
    '.md': 'text/plain',
    '.py': 'text/x-script.python',
    '.sh': 'text/x-shellscript',
    '.svg': 'image/svg+xml',
    '.xml': 'text/xml',
  }),
)

/** First bytes in hex, and what they mean. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['25504446', 'application/pdf'],
  ['504b0304', 'application/zip'],
  ['1f8b', 'application/gzip'],
  ['7f454c46', 'application/x-executable'],
]

/** Longest piece of a UTF-8 character that a cut can leave. */
const CUT_BYTES = 3

/**
 * Distinguishes text and binary by the content, and the type by first bytes or extension.
 * @param bytes - The content, or its beginning.
 */
export function contentKind(path: string, bytes: Buffer, isWhole: boolean): ContentKind {
  if (bytes.length === 0) return { isBinary: false, mimeType: 'inode/x-empty' }
  const start = bytes.subarray(0, 8).toString('hex')
  const signature = SIGNATURES.find(([first]) => start.startsWith(first))
  if (!isText(bytes, isWhole)) {
    return { isBinary: true, mimeType: signature?.[1] ?? 'application/octet-stream' }
  }
  const byName = TEXT_TYPES.get(extname(path).toLowerCase())
  return { isBinary: false, mimeType: signature?.[1] ?? byName ?? 'text/plain' }
}

function isText(bytes: Buffer, isWhole: boolean): boolean {
  if (bytes.includes(0)) return false
  if (isUtf8(bytes)) return true
  if (isWhole) return false
  const lengths = Array.from({ length: CUT_BYTES }, (_, cut) => bytes.length - cut - 1)
  return lengths.some((length) => length > 0 && isUtf8(bytes.subarray(0, length)))
}
