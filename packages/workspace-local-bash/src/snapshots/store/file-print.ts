import { hash } from 'node:crypto'
import { createTimeSlice } from '@helix-agents/core/provider'

const LINE_FEED = 10
const PART_BYTES = 64 * 1024

/** A part of a file: its length, its SHA-256, and its bytes while somebody else needs them. */
interface PartPrint {
  readonly length: number
  readonly hash: string
  readonly bytes: WeakRef<Uint8Array>
}

/** What identifies the bytes of a file: its parts in order. */
export type FilePrint = readonly PartPrint[]

/** Of a manifest most parts are those of the one before. */
const prints = new WeakMap<Uint8Array, PartPrint>()

/** @param parts Nobody writes to them. */
export async function printOf(parts: readonly Uint8Array[]): Promise<FilePrint> {
  const slice = createTimeSlice()
  const print: PartPrint[] = []
  for (const part of parts) {
    const known = prints.get(part) ?? toPrint(part)
    prints.set(part, known)
    print.push(known)
    if (slice.due) await slice.pause()
  }
  return print
}

/** Whether these bytes, and no others, are the parts of the print. */
export async function isPrintOf(print: FilePrint, bytes: Buffer): Promise<boolean> {
  const slice = createTimeSlice()
  let at = 0
  for (const part of print) {
    if (!isPart(part, bytes.subarray(at, at + part.length))) return false
    at += part.length
    if (slice.due) await slice.pause()
  }
  return at === bytes.length
}

/** Comparing takes a tenth of the time of hashing. */
function isPart({ bytes, hash: wanted }: PartPrint, found: Buffer): boolean {
  const known = bytes.deref()
  return known === undefined ? hashOf(found) === wanted : found.equals(known)
}

function toPrint(part: Uint8Array): PartPrint {
  return { length: part.length, hash: hashOf(part), bytes: new WeakRef(part) }
}

/** Cuts a text into parts of whole lines. */
export function linesIn(bytes: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let start = 0; start < bytes.length;) {
    const feed = bytes.indexOf(LINE_FEED, start + PART_BYTES)
    const end = feed < 0 ? bytes.length : feed + 1
    parts.push(bytes.subarray(start, end))
    start = end
  }
  return parts
}

function hashOf(part: Uint8Array): string {
  return hash('sha256', part, 'hex')
}
