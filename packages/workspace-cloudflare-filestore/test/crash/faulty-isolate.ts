import type {
  FileStoreBucket,
  FileStoreStorage,
  ObjectBody,
  FileStoreSqlBinding,
} from '@helix-agents/workspace-cloudflare-filestore'

/**
 * What goes wrong at a point:
 * - `fail`: it is not done, and throws; the isolate lives on.
 * - `lost-reply`: the bucket does it, and throws; the isolate lives on.
 * - `evict`: it is not done, and the isolate does nothing any more.
 * - `evict-after`: it is done, and then the isolate does nothing any more.
 * - `late`: the isolate is evicted; what it asked of the bucket is done some time after.
 */
export type Fault = 'fail' | 'lost-reply' | 'evict' | 'evict-after' | 'late'

/** Where a fault can be: a statement, the end of a transaction, a call to the bucket, a source. */
type Point = 'statement' | 'commit' | 'head' | 'get' | 'body' | 'put' | 'delete' | 'source'

const BUCKET_POINTS: readonly Point[] = ['head', 'get', 'body', 'put', 'delete']

/** A source is not ours: it can only fail. A statement that died after its work is not committed. */
const POINTS: Readonly<Record<Fault, readonly Point[]>> = {
  fail: ['statement', 'commit', ...BUCKET_POINTS, 'source'],
  'lost-reply': BUCKET_POINTS,
  evict: ['statement', 'commit', ...BUCKET_POINTS],
  'evict-after': ['statement', 'commit', ...BUCKET_POINTS],
  late: ['put', 'delete'],
}

export const FAULTS = Object.keys(POINTS) as readonly Fault[]

/** The fault and the point, counted from 1, that it strikes. */
export interface Plan {
  readonly fault: Fault
  readonly at: number
}

export class InjectedFault extends Error {
  override readonly name = 'InjectedFault'
}

/** The ports of one isolate, with a fault at one point from the moment it is armed. */
export class FaultyIsolate {
  readonly storage: FileStoreStorage
  readonly bucket: FileStoreBucket
  #plan: Plan | undefined
  #count = 0
  #isDead = false
  #struck: string | undefined
  #late: (() => Promise<unknown>) | undefined
  /** What was asked of the database since it was armed. */
  readonly statements: string[] = []

  constructor(storage: FileStoreStorage, bucket: FileStoreBucket) {
    this.storage = this.#storageOver(storage)
    this.bucket = this.#bucketOver(bucket)
  }

  arm(plan: Plan): void {
    this.#plan = plan
    this.#count = 0
    this.statements.length = 0
  }

  /** How many points there were so far. */
  get count(): number {
    return this.#count
  }

  /** What was struck; undefined when there were not so many points. */
  get struck(): string | undefined {
    return this.#struck
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Ends the isolate, whatever happened. */
  kill(): void {
    this.#isDead = true
  }

  /** Does what the dead isolate still had on its way. */
  async landLate(): Promise<void> {
    await this.#late?.()
    this.#late = undefined
  }

  /** A source whose every piece, and whose end, is a point. */
  source(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
    const left = [...pieces]
    return new ReadableStream(
      {
        pull: (controller) => {
          if (this.#strikes('source')) throw new InjectedFault('source')
          const piece = left.shift()
          if (piece === undefined) controller.close()
          else controller.enqueue(piece)
        },
      },
      { highWaterMark: 0 },
    )
  }

  #storageOver(storage: FileStoreStorage): FileStoreStorage {
    return {
      sql: {
        exec: (statement: string, ...bindings: FileStoreSqlBinding[]) => {
          this.statements.push(statement)
          const fault = this.#strikes('statement', statement)
          if (fault !== undefined && fault !== 'evict-after') throw new InjectedFault('statement')
          const cursor = storage.sql.exec(statement, ...bindings)
          if (fault === undefined) return cursor
          cursor.toArray()
          throw new InjectedFault('after statement')
        },
      },
      transactionSync: (work) => {
        this.#assertAlive()
        let fault: Fault | undefined
        const result = storage.transactionSync(() => {
          const done = work()
          fault = this.#strikes('commit')
          if (fault !== undefined && fault !== 'evict-after') throw new InjectedFault('commit')
          return done
        })
        if (fault !== undefined) throw new InjectedFault('after commit')
        return result
      },
    }
  }

  #bucketOver(bucket: FileStoreBucket): FileStoreBucket {
    return {
      head: (key) => this.#ask('head', () => bucket.head(key)),
      get: async (key, options) => {
        const found = await this.#ask('get', () => bucket.get(key, options))
        return found === null ? null : this.#bodyOver(found)
      },
      put: (key, value, options) => {
        // The caller may use its memory again.
        const kept = new Uint8Array(value)
        return this.#ask('put', () => bucket.put(key, kept, options))
      },
      delete: (keys) => this.#ask('delete', () => bucket.delete(keys)),
    }
  }

  #bodyOver(found: ObjectBody): ObjectBody {
    const arrayBuffer = (): Promise<ArrayBuffer> => this.#ask('body', () => found.arrayBuffer())
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const bytes = new Uint8Array(await arrayBuffer())
      if (bytes.length > 0) controller.enqueue(bytes)
      controller.close()
    }
    return {
      arrayBuffer,
      get body() {
        return new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
      },
    }
  }

  async #ask<T>(point: Point, ask: () => Promise<T>): Promise<T> {
    const fault = this.#strikes(point)
    if (fault === undefined) return ask()
    if (fault === 'late') this.#late = ask
    if (fault === 'lost-reply' || fault === 'evict-after') await ask()
    throw new InjectedFault(`${fault} ${point}`)
  }

  /** The fault of the plan when it strikes here. */
  #strikes(point: Point, detail = ''): Fault | undefined {
    this.#assertAlive()
    const plan = this.#plan
    if (plan === undefined || !POINTS[plan.fault].includes(point)) return undefined
    this.#count += 1
    if (this.#count !== plan.at) return undefined
    this.#struck = `${point} ${detail.replaceAll(/\s+/g, ' ').slice(0, 80)}`.trim()
    if (plan.fault !== 'fail' && plan.fault !== 'lost-reply') this.#isDead = true
    return plan.fault
  }

  #assertAlive(): void {
    if (this.#isDead) throw new InjectedFault('the isolate is gone')
  }
}
