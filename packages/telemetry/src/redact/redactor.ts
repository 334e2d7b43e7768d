import { REDACTED, redactText } from './redact-text.ts'
import { isEnvironmentKey, type IsSecretKey } from './secret-keys.ts'

/** Deeper values are left out; also the end of a cycle through getters. */
const MAX_DEPTH = 12
/** Longer texts are cut: a line of the log is no place for a file or a conversation. */
const MAX_TEXT = 32_768
/** Further items of a list or fields of an object are counted, not written. */
const MAX_ITEMS = 200

type Fields = Record<string, unknown>

/** Copies values for the log: JSON, without secrets, errors with all that they carry. */
export class Redactor {
  readonly #isSecretKey: IsSecretKey
  /** The objects around the present one. */
  readonly #path = new Set<object>()

  constructor(isSecretKey: IsSecretKey) {
    this.#isSecretKey = isSecretKey
  }

  /** A copy of any value. */
  value(value: unknown): unknown {
    if (typeof value === 'string') return toLogText(value)
    if (typeof value === 'bigint') return String(value)
    if (typeof value !== 'object' || value === null) return value
    return this.#guarded(value, () => this.#copy(value))
  }

  #guarded(value: object, copy: () => unknown): unknown {
    if (this.#path.has(value)) return '[circular]'
    if (this.#path.size >= MAX_DEPTH) return '[deep]'
    this.#path.add(value)
    try {
      return copy()
    } catch (error) {
      // A getter or `toJSON` of somebody: the line is worth more than this value.
      return `[unreadable: ${error instanceof Error ? error.name : typeof error}]`
    } finally {
      this.#path.delete(value)
    }
  }

  #copy(value: object): unknown {
    if (isErrorLike(value)) return this.#copyError(value)
    if (Array.isArray(value) || value instanceof Set) return this.#copyItems([...value])
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (value instanceof Map || value instanceof Headers) {
      return this.#copyFields([...value].map(([key, each]) => [String(key), each]))
    }
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      return this.value(value.toJSON())
    }
    return this.#copyFields(Object.entries(value))
  }

  #copyItems(items: readonly unknown[]): unknown[] {
    const copies = items.slice(0, MAX_ITEMS).map((item) => this.value(item))
    const rest = items.length - copies.length
    return rest > 0 ? [...copies, `[${rest} more]`] : copies
  }

  /** What an error says, its own fields (of a HelixError: code, brand, path, …), and its causes. */
  #copyError(error: ErrorLike): Fields {
    const { name, message, stack, cause, errors } = error
    return {
      type: name ?? 'Error',
      ...this.#copyFields(Object.entries(error)),
      message: toLogText(message),
      ...(typeof stack === 'string' && { stack: toLogText(stack) }),
      ...(cause !== undefined && { cause: this.value(cause) }),
      ...(Array.isArray(errors) && { errors: this.value(errors) }),
    }
  }

  #copyFields(entries: readonly (readonly [string, unknown])[]): Fields {
    const copies = entries
      .slice(0, MAX_ITEMS)
      .map(([key, value]) => [key, this.#copyField(key, value)] as const)
    const rest = entries.length - copies.length
    return Object.fromEntries(rest > 0 ? [...copies, ['…', `[${rest} more]`]] : copies)
  }

  #copyField(key: string, value: unknown): unknown {
    // Numbers count tokens; they are none.
    const mayBeSecret = typeof value === 'string' || (typeof value === 'object' && value !== null)
    if (!mayBeSecret) return this.value(value)
    if (this.#isSecretKey(key)) return REDACTED
    return isEnvironmentKey(key) ? hideValues(value) : this.value(value)
  }
}

/** Redacted before it is cut: half a credential would not look like one. */
function toLogText(text: string): string {
  const redacted = redactText(text)
  const rest = redacted.length - MAX_TEXT
  return rest > 0 ? `${redacted.slice(0, MAX_TEXT)}[${rest} more characters]` : redacted
}

function hideValues(value: string | object): unknown {
  if (typeof value === 'string' || Array.isArray(value)) return REDACTED
  return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]))
}

interface ErrorLike {
  readonly name?: unknown
  readonly message: string
  readonly stack?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/** Errors of other realms and package copies are no instances of `Error`, but have a stack. */
function isErrorLike(value: object): value is ErrorLike {
  if (value instanceof Error) return true
  return 'message' in value && typeof value.message === 'string' && 'stack' in value
}
