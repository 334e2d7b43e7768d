const BRAND = 'helix-agents/error'

/** Options that every error of the framework takes. */
export interface HelixErrorOptions extends ErrorOptions {
  /** What the model can do about it, in one sentence. Goes to the model: nothing secret. */
  readonly hint?: string
}

/**
 * Base of every error the framework throws on purpose. The class says what the caller does
 * next, `code` says what happened. `message` and `hint` may be shown to the model; `cause`
 * is for the operator only.
 */
export abstract class HelixError extends Error {
  /** What happened; a closed union in each subclass. */
  abstract readonly code: string
  /** True when the same call may succeed later without operator action. */
  abstract readonly transient: boolean
  /** An own string property, so it survives a second package copy and Durable Object RPC. */
  readonly brand = BRAND
  readonly hint?: string

  constructor(message: string, options: HelixErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    if (options.hint !== undefined) this.hint = options.hint
  }

  /** Recognises framework errors where `instanceof` cannot: other package copies, RPC. */
  static isInstance(value: unknown): value is HelixError {
    return typeof value === 'object' && value !== null && 'brand' in value && value.brand === BRAND
  }
}
