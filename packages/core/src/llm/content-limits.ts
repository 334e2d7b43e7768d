/** What a session keeps of anything that comes from outside: from a model, a tool or a user. */
export interface ContentLimits {
  /** Levels of arrays and objects in a JSON value. */
  readonly maxDepth: number
  /**
   * Characters of one message (its text, thinking and arguments together), of one tool result, and
   * of one JSON value such as the custom state, the metadata or the output.
   */
  readonly maxCharacters: number
  /** Bytes of all files of one message. */
  readonly maxFileBytes: number
  /** Characters of an id: of a session, a run, an agent, a tool call, a workspace, a user, a tag. */
  readonly maxIdCharacters: number
  /** Tool calls in one answer of a model. */
  readonly maxToolCalls: number
  /** Fields of one object in the arguments of a tool call: a schema reports each unknown one. */
  readonly maxArgumentFields: number
  /** Values of the arguments of one tool call: fields and items, on all levels. */
  readonly maxArgumentValues: number
}

/** The limits, the same for every runtime and every store. */
export const contentLimits: ContentLimits = Object.freeze({
  maxDepth: 256,
  maxCharacters: 8_388_608,
  maxFileBytes: 33_554_432,
  maxIdCharacters: 1024,
  maxToolCalls: 1000,
  maxArgumentFields: 4096,
  maxArgumentValues: 65_536,
})

/** Why a value is not kept: see `contentLimits`. `not-json`: it cannot be written as JSON. */
export type ContentProblem = 'too-deep' | 'too-large' | 'not-json'

/** Characters that a number, a truth value or a bracket counts for. */
const SMALL = 6
/** A byte of a typed array, written as a field of an object. */
const CHARACTERS_OF_A_BYTE = 8

/** Adds up the size of values, and stops at the limits: its cost is bounded for any value. */
export class ContentMeter {
  #charactersLeft = contentLimits.maxCharacters
  #bytesLeft = contentLimits.maxFileBytes

  /** Characters that were counted so far. */
  get characters(): number {
    return contentLimits.maxCharacters - this.#charactersLeft
  }

  /** Counts a text. */
  text(text: string): ContentProblem | undefined {
    return this.#take(text.length)
  }

  /** Counts the bytes of a file. */
  bytes(bytes: number): ContentProblem | undefined {
    this.#bytesLeft -= bytes
    return this.#bytesLeft < 0 ? 'too-large' : undefined
  }

  /** Counts a JSON value; `depth` are the levels around it. */
  value(value: unknown, depth = 0): ContentProblem | undefined {
    if (typeof value === 'string') return this.#take(value.length + 2)
    if (typeof value === 'bigint') return 'not-json'
    if (typeof value !== 'object' || value === null) return this.#take(SMALL)
    if (depth >= contentLimits.maxDepth) return 'too-deep'
    if (ArrayBuffer.isView(value)) return this.#take(value.byteLength * CHARACTERS_OF_A_BYTE)
    return this.#take(SMALL) ?? this.#items(value, depth + 1)
  }

  #items(value: object, depth: number): ContentProblem | undefined {
    if (Array.isArray(value)) {
      for (const item of value as readonly unknown[]) {
        const problem = this.value(item, depth)
        if (problem !== undefined) return problem
      }
      return undefined
    }
    for (const [name, item] of Object.entries(value)) {
      const problem = this.#take(name.length) ?? this.value(item, depth)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  #take(characters: number): ContentProblem | undefined {
    this.#charactersLeft -= characters
    return this.#charactersLeft < 0 ? 'too-large' : undefined
  }
}

/** Why a JSON value is not kept; `undefined` when it is. Never throws. */
export function contentProblem(value: unknown, depth = 0): ContentProblem | undefined {
  try {
    return new ContentMeter().value(value, depth)
  } catch {
    return 'not-json'
  }
}

/**
 * Whether the arguments of a tool call are few enough values for a schema, whose cost grows with
 * them and not only with their characters.
 */
export function hasFewValues(value: unknown): boolean {
  let valuesLeft = contentLimits.maxArgumentValues
  // A stack of its own: the depth is judged elsewhere.
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next)) continue
    const items: readonly unknown[] = Object.values(next)
    const isWide = !Array.isArray(next) && items.length > contentLimits.maxArgumentFields
    valuesLeft -= items.length
    if (isWide || valuesLeft < 0) return false
    for (const item of items) open.push(item)
  }
  return true
}

/** A problem in words, with the limit. */
export function describeContentProblem(problem: ContentProblem): string {
  const { maxDepth, maxCharacters, maxFileBytes } = contentLimits
  if (problem === 'too-deep') return `nested more than ${maxDepth} levels deep`
  if (problem === 'not-json') return 'no plain JSON'
  return `larger than ${maxCharacters} characters of text or ${maxFileBytes} bytes of files`
}

/** Whether every store takes the id. */
export function isStorableId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= contentLimits.maxIdCharacters
}
