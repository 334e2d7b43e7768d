import type { FileStoreBucket, ObjectRange } from '@helix-agents/workspace-cloudflare-filestore'

/** A bucket in memory, for Node, which notes what is asked of it. */
export class MapBucket implements FileStoreBucket {
  readonly objects = new Map<string, Uint8Array<ArrayBuffer>>()
  readonly asked: string[] = []
  /** Fails the next call of this name. */
  failing: string | undefined

  async head(key: string): Promise<object | null> {
    this.#note('head')
    return this.objects.has(key) ? {} : null
  }

  async get(key: string, options: { range?: ObjectRange } = {}) {
    this.#note('get')
    const object = this.objects.get(key)
    if (object === undefined) return null
    const { offset = 0, length = object.length } = options.range ?? {}
    const bytes = object.slice(offset, offset + length)
    return { body: new Blob([bytes]).stream(), arrayBuffer: async () => bytes.buffer }
  }

  async put(key: string, value: Uint8Array): Promise<void> {
    this.#note('put')
    this.objects.set(key, new Uint8Array(value))
  }

  async delete(keys: string[]): Promise<void> {
    this.#note('delete')
    for (const key of keys) this.objects.delete(key)
  }

  #note(call: string): void {
    this.asked.push(call)
    if (this.failing !== call) return
    this.failing = undefined
    throw new Error(`the bucket does not ${call}`)
  }
}
