import type { SharedV4Warning } from '@ai-sdk/provider'
import type { Logger } from '@helix-agents/core'

/** A long-lived adapter forgets what it has said after so many different warnings. */
const MAX_REMEMBERED = 1_000

/** Logs each warning of a model once: a provider repeats its own in every step. */
export class WarningLog {
  readonly #logger: Logger
  readonly #logged = new Set<string>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  log(warnings: readonly SharedV4Warning[], model: string): void {
    for (const warning of warnings) {
      // The message of a warning may quote the prompt; its type and feature are words of the SDK.
      const { type } = warning
      const feature = 'feature' in warning ? warning.feature : undefined
      const key = `${model}\n${type}\n${feature}`
      if (this.#logged.has(key)) continue
      if (this.#logged.size >= MAX_REMEMBERED) this.#logged.clear()
      this.#logged.add(key)
      this.#logger.warn({ model, type, feature }, 'the model ignores a setting')
    }
  }
}
