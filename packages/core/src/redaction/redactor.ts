import { redactText } from './redact-text.ts'
import { isEnvironmentKey, isNumericSecret, type IsSecretKey } from './secret-keys.ts'
import { REDACTED } from './secret-shapes.ts'

/** Deeper values are left out; also the end of a cycle through getters. */
const MAX_DEPTH = 12
/** Further items of a list or fields of an object are counted, not written. */
const MAX_ITEMS = 200
/** All texts of one line together; what is more is left out. */
const MAX_TEXTS = 262_144
/** All values of one line together. */
const MAX_VALUES = 5000
/** Names that are longer may hold a secret themselves. */
const LONG_NAME = 24
/** Fields of an object that is a name with its value. */
const PAIR_FIELDS = 6

type Fields = Record<string, unknown>

/** Copies values for the log: JSON, without secrets, errors with their fields. */
export class Redactor {
  readonly #isSecretKey: IsSecretKey
  /** The objects around the present one. */
  readonly #path = new Set<object>()
  #textsLeft = MAX_TEXTS
  #valuesLeft = MAX_VALUES

  constructor(isSecretKey: IsSecretKey) {
    this.#isSecretKey = isSecretKey
  }

  /** A copy of any value. */
  value(value: unknown): unknown {
    this.#valuesLeft -= 1
    if (this.#valuesLeft < 0) return '[more]'
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'bigint') return String(value)
    if (typeof value !== 'object' || value === null) return value
    return this.#guarded(value, () => this.#copy(value))
  }

  #text(text: string): string {
    if (this.#textsLeft <= 0) return `[${text.length} more characters]`
    this.#textsLeft -= text.length
    return redactText(text)
  }

  #guarded(value: object, copy: () => unknown): unknown {
    if (this.#path.has(value)) return '[circular]'
    if (this.#path.size >= MAX_DEPTH) return '[deep]'
    this.#path.add(value)
    try {
      return copy()
    } catch (error) {
      // A getter or `toJSON` of the application: the line is worth more than this value.
      return `[unreadable: ${error instanceof Error ? error.name : typeof error}]`
    } finally {
      this.#path.delete(value)
    }
  }

  #copy(value: object): unknown {
    if (isErrorLike(value)) return this.#copyError(value)
    if (Array.isArray(value)) return this.#copyItems(value.slice(0, MAX_ITEMS), value.length)
    if (value instanceof Set) return this.#copyItems(firstOf(value), value.size)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (value instanceof Map) return this.#copyFields(namedEntries(value), value.size)
    if (value instanceof Headers) return this.#copyFields(namedEntries(value), [...value].length)
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      return this.value(value.toJSON())
    }
    return this.#copyObject(value)
  }

  /** @param count Of all items; only the first ones are given. */
  #copyItems(items: readonly unknown[], count: number): unknown[] {
    const isPairs = count % 2 === 0
    const copies = items.map((item, at) => {
      // Headers as they were sent: a name, then its value.
      const name = isPairs && at % 2 === 1 ? items[at - 1] : undefined
      return typeof name === 'string' ? this.#copyField(name, item) : this.value(item)
    })
    const rest = count - copies.length
    return rest > 0 ? [...copies, `[${rest} more]`] : copies
  }

  /** What an error says, its own fields (of a HelixError: code, brand, path, …), and its causes. */
  #copyError(error: ErrorLike): Fields {
    const { name, message, stack, cause, errors } = error
    return {
      type: name ?? 'Error',
      ...this.#copyObject(error),
      message: this.#text(message),
      ...(typeof stack === 'string' && { stack: this.#text(stack) }),
      ...(cause !== undefined && { cause: this.value(cause) }),
      ...(Array.isArray(errors) && { errors: this.value(errors) }),
    }
  }

  #copyObject(value: object): Fields {
    const keys = Object.keys(value)
    const first = keys.slice(0, MAX_ITEMS)
    return this.#copyFields(
      first.map((key) => [key, Reflect.get(value, key)]),
      keys.length,
    )
  }

  /** @param count Of all entries; only the first ones are given. */
  #copyFields(entries: readonly (readonly [string, unknown])[], count: number): Fields {
    const named = count > PAIR_FIELDS ? undefined : nameOfPair(entries)
    const copies = entries.map(([key, value]) => {
      const copy = this.#copyField(key === 'value' ? (named ?? key) : key, value)
      return [key.length > LONG_NAME ? this.#text(key) : key, copy] as const
    })
    const rest = count - copies.length
    return Object.fromEntries(rest > 0 ? [...copies, ['…', `[${rest} more]`]] : copies)
  }

  #copyField(key: string, value: unknown): unknown {
    if (typeof value === 'number' || typeof value === 'bigint') {
      // Under most names numbers count tokens; they are none.
      return this.#isSecretKey(key) && isNumericSecret(key) ? REDACTED : this.value(value)
    }
    const mayBeSecret = typeof value === 'string' || (typeof value === 'object' && value !== null)
    if (!mayBeSecret) return this.value(value)
    if (this.#isSecretKey(key)) return REDACTED
    return isEnvironmentKey(key) ? hideValues(value) : this.value(value)
  }
}

/** What the `value` of `{ name: 'authorization', value }` is called. */
function nameOfPair(entries: readonly (readonly [string, unknown])[]): string | undefined {
  if (!entries.some(([key]) => key === 'value')) return undefined
  const named = entries.find(([key]) => key === 'name' || key === 'key' || key === 'header')?.[1]
  return typeof named === 'string' ? named : undefined
}

function namedEntries(entries: Iterable<[unknown, unknown]>): (readonly [string, unknown])[] {
  return firstOf(entries).map(([key, each]) => [String(key), each])
}

/** A collection may be far larger than what is written of it. */
function firstOf<Item>(items: Iterable<Item>): Item[] {
  const first: Item[] = []
  for (const item of items) {
    if (first.length === MAX_ITEMS) break
    first.push(item)
  }
  return first
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
