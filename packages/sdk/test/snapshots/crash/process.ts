// A process that dies at one of its calls, and never answers again.

/** The process ended here. */
export class Death extends Error {
  override readonly name = 'Death'
}

/** Methods of an object, by their names. */
type Methods = Readonly<Record<PropertyKey, unknown>>

/**
 * Everything that outlives a process is reached through its calls. Each call has two points at which
 * the process can die: before it has an effect, and after it. From then on every call fails.
 */
export class DyingProcess {
  /** Labels of the points that were passed, in order. */
  readonly passed: string[] = []
  readonly #fatal: number | string | undefined
  #isDead = false
  #quiet = 0

  /** @param fatal The number of a point, from 1 on, or its label. Default: it never dies. */
  constructor(fatal?: number | string) {
    this.#fatal = fatal
  }

  get isDead(): boolean {
    return this.#isDead
  }

  async call<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    this.pass(`before ${name}`)
    const result = await work()
    this.pass(`after ${name}`)
    return result
  }

  /** One point. */
  pass(label: string): void {
    if (this.#quiet > 0) return
    if (!this.#isDead) {
      this.passed.push(label)
      this.#isDead = this.#fatal === this.passed.length || this.#fatal === label
    }
    if (this.#isDead) throw new Death(`the process is gone ${label}`)
  }

  /** Calls of an observer, which are not those of the process. */
  async quietly<T>(work: () => Promise<T>): Promise<T> {
    this.#quiet += 1
    try {
      return await work()
    } finally {
      this.#quiet -= 1
    }
  }

  /** An object whose methods are calls of this process. */
  wrap<T extends object>(name: string, target: T, own: Methods = {}): T {
    return new Proxy(target, {
      get: (object, key) => {
        if (Object.hasOwn(own, key)) return own[key]
        const value: unknown = Reflect.get(object, key, object)
        if (typeof value !== 'function') return value
        const label = `${name}.${String(key)}`
        return (...given: unknown[]): unknown =>
          this.call(label, () => Reflect.apply(value, object, given) as unknown)
      },
    })
  }
}
