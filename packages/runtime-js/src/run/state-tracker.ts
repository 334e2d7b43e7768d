import { type JsonValue, type StatePatch, ToolFailedError, toJsonValue } from '@helix-agents/core'
import { enablePatches, type Patch, produceWithPatches } from 'immer'

enablePatches()

/**
 * The custom state of a session during a run. Each update is a draft on the latest state, so the
 * updates of tools that run side by side merge.
 */
export class StateTracker {
  readonly #onPatches: (patches: readonly StatePatch[]) => void
  #state: JsonValue | undefined
  #changed: boolean

  constructor(
    initial: JsonValue | undefined,
    onPatches: (patches: readonly StatePatch[]) => void,
    changed = false,
  ) {
    this.#state = initial
    this.#onPatches = onPatches
    this.#changed = changed
  }

  get current(): JsonValue | undefined {
    return this.#state
  }

  /** The state as its reader knows it. */
  read<T>(): T {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the reader knows the schema
    return (this.#state ?? {}) as T
  }

  /** @throws {ToolFailedError} `tool-failed` for a state that cannot be stored. */
  update<T>(recipe: (draft: T) => void): void {
    const before = this.#state ?? {}
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the caller knows the schema
    const [next, patches] = produceWithPatches(before, (draft) => recipe(draft as T))
    if (patches.length === 0) return
    if (!patches.every(({ op, value }) => op === 'remove' || isStorable(value))) {
      throw new ToolFailedError('tool-failed', 'the custom state must stay plain JSON')
    }
    this.#state = next
    this.#changed = true
    this.#onPatches(patches.map((patch) => toStatePatch(patch, before)))
  }

  /** The state when it changed since the last call: what a commit stores. */
  takeChange(): { readonly value: JsonValue | undefined } | undefined {
    if (!this.#changed) return undefined
    this.#changed = false
    return { value: this.#state }
  }
}

function isStorable(value: unknown): boolean {
  return value === undefined || toJsonValue(value) !== undefined
}

/** JSON Patch (RFC 6902); an element added at the end is `…/-`, so that appends merge. */
function toStatePatch({ op, path, value }: Patch, before: JsonValue): StatePatch {
  const last = path.at(-1)
  const parent =
    op === 'add' && typeof last === 'number' ? valueAt(before, path.slice(0, -1)) : null
  const appends = Array.isArray(parent) && typeof last === 'number' && last >= parent.length
  const keys = appends ? [...path.slice(0, -1), '-'] : path
  const pointer = keys.map((key) => `/${escapeKey(String(key))}`).join('')
  return op === 'remove' ? { op, path: pointer } : { op, path: pointer, value }
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value: unknown = root
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
  }
  return value
}
