import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** The lines of a process, to be waited for. */
export class OutputLines {
  readonly #lines: string[] = []
  readonly #waiting = new Map<(line: string) => void, string>()

  constructor(outputs: readonly Readable[]) {
    for (const input of outputs) createInterface({ input }).on('line', (line) => this.#add(line))
  }

  text(): string {
    return this.#lines.join('\n')
  }

  /** The first line that contains the text. */
  says(text: string): Promise<string> {
    const line = this.#lines.find((each) => each.includes(text))
    if (line !== undefined) return Promise.resolve(line)
    return new Promise((resolve) => this.#waiting.set(resolve, text))
  }

  #add(line: string): void {
    this.#lines.push(line)
    for (const [resolve, text] of this.#waiting) {
      if (!line.includes(text)) continue
      this.#waiting.delete(resolve)
      resolve(line)
    }
  }
}
