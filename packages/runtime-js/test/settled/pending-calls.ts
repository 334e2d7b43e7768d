// Parts of an executor whose calls take a few turns, and who knows which of them have not ended.
import { settle } from '../harness.ts'

/** What a provider gives out has calls of its own. */
const PARTS = new Set(['ws', 'snapshot', 'history'])
/** Nobody waits for these: they look for what is next, and a stream is read as it comes. */
const FREE = /^(?:store\.loadSignals|streams\.read)$/

export class PendingCalls {
  readonly #pending: string[] = []
  /** Calls that began while another one was under way. */
  readonly overlaps: string[] = []

  /** The calls that have not ended. */
  get names(): readonly string[] {
    return this.#pending.filter((name) => !FREE.test(name))
  }

  /** An object whose calls are known by a name. */
  wrap<T extends object>(target: T, name: string): T {
    return new Proxy(target, {
      get: (object, key) => {
        const value: unknown = Reflect.get(object, key, object)
        const place = `${name}.${String(key)}`
        if (PARTS.has(String(key)) && isObject(value)) return this.wrap(value, place)
        if (typeof value !== 'function') return value
        return (...given: unknown[]): unknown => {
          const result: unknown = value.apply(object, given)
          return result instanceof Promise ? this.#follow(result, place) : result
        }
      },
    })
  }

  async #follow(work: Promise<unknown>, name: string): Promise<unknown> {
    this.overlaps.push(...this.names.map((other) => `${name} during ${other}`))
    this.#pending.push(name)
    try {
      const result = await work
      await settle()
      return isObject(result) && 'ws' in result ? this.wrap(result, name) : result
    } finally {
      this.#pending.splice(this.#pending.indexOf(name), 1)
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
