import type { Clock } from '@helix-agents/core'
import { storedSnapshotSchema } from '../../ref.ts'
import type { KeptSnapshot } from '../port.ts'
import { createNonce } from '../remote/nonce.ts'

/** Beside the backups of the SDK, in the same bucket. */
const PREFIX = 'helix-history'
const BACKUPS = 'backups/'
const RECORD = '/meta.json'
/** Between the name of a backup and its mark. Names have none. */
const SEPARATOR = '.'
/** By then a backup that was begun is there, or never will be. */
const PENDING_MS = 30 * 60_000
/** Pages of the bucket that one search reads at most, of 1,000 objects each. */
const MAX_PAGES = 200

interface Begun {
  readonly key: string
  readonly mark: string
  readonly atMs: number
}

interface Found {
  readonly ids: ReadonlyMap<string, string>
  /** The whole bucket was read. */
  readonly isWhole: boolean
}

/**
 * Which backups are kept under a name. The SDK lists none and chooses their ids, so each is announced
 * before it is taken, with a mark that becomes a part of its name: one whose caller died is found again.
 */
export class BackupIndex {
  readonly #bucket: R2Bucket
  readonly #clock: Clock

  constructor(bucket: R2Bucket, clock: Clock) {
    this.#bucket = bucket
    this.#clock = clock
  }

  /** Before a backup is taken. @returns the name that it must be taken with */
  async begin(name: string): Promise<string> {
    const mark = createNonce()
    await this.#bucket.put(begunKey(name, mark), '')
    return `${name}${SEPARATOR}${mark}`
  }

  /** Once it is there. */
  async finish(name: string, markedName: string, kept: KeptSnapshot): Promise<void> {
    const customMetadata = { snapshot: JSON.stringify(kept) }
    await this.#bucket.put(keptKey(name, kept.backup.id), '', { customMetadata })
    await this.#bucket.delete(begunKey(name, markedName.slice(name.length + SEPARATOR.length)))
  }

  /** Once it is removed. */
  async forget(name: string, id: string): Promise<void> {
    await this.#bucket.delete(keptKey(name, id))
  }

  /** All that are kept under a name, and those whose caller died before it knew of them. */
  async list(name: string): Promise<readonly KeptSnapshot[]> {
    const kept: KeptSnapshot[] = []
    const begun: Begun[] = []
    const start = keptKey(name, '')
    for await (const { key, uploaded, customMetadata } of this.#all(keyOf(name, ''))) {
      if (key.startsWith(start)) kept.push(...readKept(customMetadata?.['snapshot']))
      else begun.push({ key, mark: key.slice(begunKey(name, '').length), atMs: uploaded.getTime() })
    }
    if (begun.length === 0) return kept
    const known = new Set(kept.map(({ backup }) => backup.id))
    const { ids, isWhole } = await this.#search(name, begun)
    await this.#settle(begun, isWhole ? ids : undefined)
    const lost = [...ids.keys()].filter((id) => !known.has(id))
    return [...kept, ...lost.map(toLost)]
  }

  /** Backups of announcements, with their marks; older ones are not looked at. */
  async #search(name: string, begun: readonly Begun[]): Promise<Found> {
    const marks = new Map<string | undefined, string>(
      begun.map(({ mark }) => [`${name}${SEPARATOR}${mark}`, mark]),
    )
    const since = Math.min(...begun.map(({ atMs }) => atMs))
    const ids = new Map<string, string>()
    let pages = 0
    const onPage = (): boolean => (pages += 1) < MAX_PAGES
    for await (const { key, uploaded } of this.#all(BACKUPS, onPage)) {
      if (!key.endsWith(RECORD) || uploaded.getTime() < since) continue
      const mark = marks.get(await this.#nameOf(key))
      if (mark !== undefined) ids.set(key.slice(BACKUPS.length, -RECORD.length), mark)
    }
    return { ids, isWhole: pages < MAX_PAGES }
  }

  async #nameOf(key: string): Promise<string | undefined> {
    const text = await (await this.#bucket.get(key))?.text()
    return text === undefined ? undefined : readName(text)
  }

  /** Announcements of which nothing is there, and nothing will be. */
  async #settle(begun: readonly Begun[], found: Found['ids'] | undefined): Promise<void> {
    if (found === undefined) return
    const marks = new Set(found.values())
    const now = this.#clock.now()
    for (const { key, mark, atMs } of begun) {
      if (!marks.has(mark) && now - atMs > PENDING_MS) await this.#bucket.delete(key)
    }
  }

  async *#all(prefix: string, onPage: () => boolean = () => true): AsyncGenerator<R2Object> {
    let cursor: string | undefined
    do {
      const page: R2Objects = await this.#bucket.list({
        prefix,
        include: ['customMetadata'],
        ...(cursor !== undefined && { cursor }),
      })
      yield* page.objects
      cursor = page.truncated ? page.cursor : undefined
    } while (cursor !== undefined && onPage())
  }
}

/** The name of a backup without its mark. */
export function unmarked(name: string): string {
  const [own = name] = name.split(SEPARATOR)
  return own
}

function keyOf(name: string, rest: string): string {
  return `${PREFIX}/${name}/${rest}`
}

function begunKey(name: string, mark: string): string {
  return keyOf(name, `begun/${mark}`)
}

function keptKey(name: string, id: string): string {
  return keyOf(name, `kept/${id}`)
}

/** Nobody can restore it: it is there to be removed. */
function toLost(id: string): KeptSnapshot {
  return { takenAtMs: 0, backup: { id, directory: '/', expiresAtMs: 0, local: false } }
}

/** One that is damaged is not listed: it may be promised to a checkpoint. */
function readKept(text: string | undefined): readonly KeptSnapshot[] {
  const { data } = storedSnapshotSchema.safeParse(text && parse(text))
  return data === undefined ? [] : [data]
}

/** A record that is damaged is of nobody. */
function readName(text: string): string | undefined {
  const name: unknown = Object(parse(text)).name
  return typeof name === 'string' ? name : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Cut off, or written by somebody else.
    return undefined
  }
}
