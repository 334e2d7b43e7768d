import type { FileStoreBucket } from '@helix-agents/workspace-cloudflare-filestore'

/** Lets calls wait, before they are made and before they answer, and chooses which goes on. */
export class Gates {
  readonly #waiting: (() => void)[] = []
  readonly #choices: readonly number[]
  #turn = 0

  /** @param choices picks among those that wait, in turn, again and again. */
  constructor(choices: readonly number[]) {
    this.#choices = choices
  }

  pass(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  /** Runs all of it to its end; one waiting call goes on at a time. */
  async run(work: readonly Promise<unknown>[]): Promise<void> {
    const state = { isDone: false }
    const all = Promise.all(work).finally(() => {
      state.isDone = true
    })
    // Whoever awaits it hears of an error; until then nobody does.
    all.catch(() => undefined)
    while (!state.isDone) {
      // Everything that does not wait here goes as far as it can.
      await scheduler.wait(0)
      this.#release()
    }
    await all
  }

  #release(): void {
    if (this.#waiting.length === 0) return
    const choice = this.#choices[this.#turn % this.#choices.length] ?? 0
    this.#turn += 1
    const [chosen] = this.#waiting.splice(choice % this.#waiting.length, 1)
    chosen?.()
  }
}

/** A bucket whose every call passes a gate on its way there, and one on its way back. */
export function gatedBucket(bucket: FileStoreBucket, gates: Gates): FileStoreBucket {
  const gated = async <T>(ask: () => Promise<T>): Promise<T> => {
    await gates.pass()
    const answer = await ask()
    await gates.pass()
    return answer
  }
  return {
    head: (key) => gated(() => bucket.head(key)),
    get: (key, options) => gated(() => bucket.get(key, options)),
    put: (key, value, options) => gated(() => bucket.put(key, value, options)),
    delete: (keys) => gated(() => bucket.delete(keys)),
  }
}
