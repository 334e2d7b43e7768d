import { createTimeSlice } from '../time/slice.ts'
import type { SnapshotEntry } from './manifest.ts'

/** A run ends at the first good point after so many entries. */
const MIN_RUN = 64
/** Entries and names of blocks of the longest run. */
const MAX_RUN = 512

interface Run {
  readonly entries: readonly SnapshotEntry[]
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * Lines of entries as UTF-8, remembered in runs of consecutive ones. A provider hands the entries that
 * did not change to each of its snapshots: only runs in which one changed are encoded again. Where a
 * run ends depends on what is in it, so that an entry more or less moves the ends of few.
 */
export class EncodedRuns {
  readonly #toLine: (entry: SnapshotEntry) => string
  /** By the first entry of each. */
  readonly #known = new WeakMap<SnapshotEntry, Run>()
  readonly #encoder = new TextEncoder()

  constructor(toLine: (entry: SnapshotEntry) => string) {
    this.#toLine = toLine
  }

  /** The lines of all entries, in order. Nobody writes to them: a run that is known is the same array. */
  async partsOf(entries: readonly SnapshotEntry[]): Promise<Uint8Array<ArrayBuffer>[]> {
    const slice = createTimeSlice()
    const parts: Uint8Array<ArrayBuffer>[] = []
    for (let start = 0; start < entries.length;) {
      const end = endOfRun(entries, start)
      parts.push(this.#bytesOf(entries, start, end))
      start = end
      if (slice.due) await slice.pause()
    }
    return parts
  }

  #bytesOf(entries: readonly SnapshotEntry[], start: number, end: number): Uint8Array<ArrayBuffer> {
    const first = entries[start]
    const known = first && this.#known.get(first)
    if (known !== undefined && isSame(known, entries, start, end)) return known.bytes
    const run = entries.slice(start, end)
    const bytes = this.#encoder.encode(run.map(this.#toLine).join(''))
    if (first !== undefined) this.#known.set(first, { entries: run, bytes })
    return bytes
  }
}

/** All parts in one. */
export async function joinParts(
  parts: readonly Uint8Array<ArrayBuffer>[],
): Promise<Uint8Array<ArrayBuffer>> {
  const slice = createTimeSlice()
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
    if (slice.due) await slice.pause()
  }
  return bytes
}

/** Behind a directory, or a file whose last hash ends in two zeros; at the latest when it is long. */
function endOfRun(entries: readonly SnapshotEntry[], start: number): number {
  let weight = 0
  for (let at = start; at < entries.length; at += 1) {
    const entry = entries[at]
    if (entry === undefined) break
    weight += entry.type === 'file' ? 1 + entry.blocks.length : 1
    const isGood =
      entry.type === 'directory' ||
      (entry.type === 'file' && entry.blocks.at(-1)?.endsWith('00') === true)
    if (weight >= MAX_RUN || (isGood && at - start >= MIN_RUN)) return at + 1
  }
  return entries.length
}

function isSame(
  { entries }: Run,
  all: readonly SnapshotEntry[],
  start: number,
  end: number,
): boolean {
  if (entries.length !== end - start) return false
  for (let at = 0; at < entries.length; at += 1) if (entries[at] !== all[start + at]) return false
  return true
}
