// A bucket in memory, as R2 answers: small pages, and the time of each upload.
interface Stored {
  readonly text: string
  readonly uploaded: Date
  readonly customMetadata: Record<string, string>
}

interface Query {
  readonly prefix: string
  readonly cursor?: string
}

/** A page holds no more than this. */
const PAGE = 2

export class MemoryBucket {
  readonly objects = new Map<string, Stored>()
  /** Of a call that is about to be made, or was. */
  onCall: (name: string) => void = () => {}
  now: () => number = Date.now

  /** As the driver has it. */
  get binding(): R2Bucket {
    const methods = {
      put: this.#call('put', (...given: Parameters<MemoryBucket['put']>) => this.put(...given)),
      get: this.#call('get', (key: string) => this.#get(key)),
      delete: this.#call('delete', (key: string) => this.objects.delete(key)),
      list: this.#call('list', (query: Query) => this.#list(query)),
    }
    return methods as unknown as R2Bucket
  }

  put(
    key: string,
    text: string,
    { customMetadata = {} }: { customMetadata?: Record<string, string> } = {},
  ): void {
    this.objects.set(key, { text, uploaded: new Date(this.now()), customMetadata })
  }

  #get(key: string): { text(): Promise<string>; arrayBuffer(): Promise<ArrayBuffer> } | null {
    const found = this.objects.get(key)
    if (found === undefined) return null
    return { text: async () => found.text, arrayBuffer: async () => new ArrayBuffer(0) }
  }

  #call<Given extends unknown[]>(name: string, work: (...given: Given) => unknown) {
    return async (...given: Given): Promise<unknown> => {
      this.onCall(`before ${name}`)
      const result = work(...given)
      this.onCall(`after ${name}`)
      return result
    }
  }

  #list({ prefix, cursor = '' }: Query): object {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).toSorted()
    const left = keys.filter((key) => key > cursor)
    const page = left.slice(0, PAGE)
    const objects = page.map((key) => ({ key, ...this.objects.get(key) }))
    const truncated = left.length > page.length
    return { objects, truncated, ...(truncated && { cursor: page.at(-1) }) }
  }
}
