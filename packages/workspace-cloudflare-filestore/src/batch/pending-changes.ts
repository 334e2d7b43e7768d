/** A file as a command has changed it, before that is stored. */
export interface PendingFile {
  readonly type: 'file'
  /** Nothing was at the path before the command. */
  readonly isNew: boolean
  /** Size of what is stored, to which the pieces are appended. Undefined: they replace it. */
  readonly storedBytes: number | undefined
  readonly pieces: Uint8Array[]
  readonly addedBytes: number
  readonly modifiedMs: number
}

/** A directory that is not stored yet. */
export interface PendingDirectory {
  readonly type: 'directory'
  readonly modifiedMs: number
}

export type PendingEntry = PendingFile | PendingDirectory

/** What a command has changed and is not stored yet, in its order. Paths are normalised. */
export class PendingChanges {
  #entries = new Map<string, PendingEntry>()
  #bytes = 0

  get count(): number {
    return this.#entries.size
  }

  /** Of all contents, as they are held in memory. */
  get bytes(): number {
    return this.#bytes
  }

  get(path: string): PendingEntry | undefined {
    return this.#entries.get(path)
  }

  /** An entry that is there keeps its place: behind the directory it is in. */
  set(path: string, entry: PendingEntry): void {
    this.#bytes += bytesOf(entry) - bytesOf(this.#entries.get(path))
    this.#entries.set(path, entry)
  }

  delete(path: string): void {
    this.#bytes -= bytesOf(this.#entries.get(path))
    this.#entries.delete(path)
  }

  /** Returns all of them; afterwards there are none. */
  drain(): [path: string, entry: PendingEntry][] {
    const drained = [...this.#entries]
    this.#entries = new Map()
    this.#bytes = 0
    return drained
  }
}

export function contentOf({ pieces, addedBytes }: PendingFile): Uint8Array<ArrayBuffer> {
  const content = new Uint8Array(addedBytes)
  let at = 0
  for (const piece of pieces) {
    content.set(piece, at)
    at += piece.length
  }
  return content
}

function bytesOf(entry: PendingEntry | undefined): number {
  return entry?.type === 'file' ? entry.addedBytes : 0
}
