import { type JsonValue, ToolFailedError } from '@helix-agents/core'
import {
  contentLimits,
  ContentMeter,
  type ContentProblem,
  describeContentProblem,
  type StatePatch,
  toJsonValue,
} from '@helix-agents/core/runtime'
import { applyPatches, enablePatches, type Patch, produceWithPatches } from 'immer'

enablePatches()

/** A change of the state as its store sees it; absent when there is none. */
export type StoredStateChange = { readonly value: JsonValue | undefined } | undefined

/**
 * The custom state of a session during a run. Each update is a draft on the latest state, so the
 * updates of tools that run side by side merge. What is stored with the result of one call holds
 * nothing of the calls that are still under way: after a crash those may run again.
 */
export class StateTracker {
  readonly #onPatches: (patches: readonly StatePatch[]) => void
  #state: JsonValue | undefined
  /** The state without the updates of calls that have no stored result. */
  #settled: JsonValue | undefined
  readonly #unsettled = new Map<object, Patch[]>()
  #isStored: boolean
  /** Characters of the state at most: what was replaced or removed since it was measured counts too. */
  #mayHave = Infinity

  constructor(
    initial: JsonValue | undefined,
    onPatches: (patches: readonly StatePatch[]) => void,
    changed: boolean,
  ) {
    this.#state = initial
    this.#settled = initial
    this.#onPatches = onPatches
    this.#isStored = !changed
  }

  get current(): JsonValue | undefined {
    return this.#state
  }

  /** The state as its reader knows it. */
  read<T>(): T {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the reader knows the schema
    return (this.#state ?? {}) as T
  }

  /**
   * Changes the state on behalf of a call.
   * @throws {ToolFailedError} `tool-failed` for a state that cannot be stored.
   */
  update<T>(call: object, recipe: (draft: T) => void): void {
    const before = this.#state ?? {}
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the caller knows the schema
    const [next, patches] = produceWithPatches(before, (draft) => recipe(draft as T))
    if (patches.length === 0) return
    if (!patches.every(({ op, value }) => op === 'remove' || isStorable(value))) {
      throw new ToolFailedError('tool-failed', 'the custom state must stay plain JSON')
    }
    this.#assertSize(next, patches)
    this.#state = next
    const earlier = this.#unsettled.get(call)
    if (earlier === undefined) this.#unsettled.set(call, patches)
    else for (const patch of patches) earlier.push(patch)
    this.#onPatches(patches.map((patch) => toStatePatch(patch, before)))
  }

  /** Measures what is new; the whole state only when so much was added that it may be too large. */
  #assertSize(next: unknown, patches: readonly Patch[]): void {
    const added = new ContentMeter()
    for (const { path, value } of patches) assertNo(added.value(value, path.length))
    this.#mayHave += added.characters
    if (this.#mayHave <= contentLimits.maxCharacters) return
    const whole = new ContentMeter()
    assertNo(whole.value(next))
    this.#mayHave = whole.characters
  }

  /** What to store with the result of a call: its updates, on those of the calls before. */
  settle(call: object): StoredStateChange {
    const patches = this.#unsettled.get(call)
    this.#unsettled.delete(call)
    if (patches === undefined) return this.#storeSettled(this.#settled)
    return this.#storeSettled(this.#withPatches(patches))
  }

  /** What to store with a whole step: every update. */
  consumeChange(): StoredStateChange {
    this.#unsettled.clear()
    return this.#storeSettled(this.#state)
  }

  #storeSettled(settled: JsonValue | undefined): StoredStateChange {
    if (this.#isStored && settled === this.#settled) return undefined
    this.#settled = settled
    this.#isStored = true
    return { value: settled }
  }

  #withPatches(patches: readonly Patch[]): JsonValue | undefined {
    const settled = this.#settled ?? {}
    if (this.#unsettled.size === 0 || typeof settled !== 'object') return this.#state
    try {
      return applyPatches(settled, [...patches])
    } catch {
      // The call has built on what another one under way has made: they cannot be told apart.
      this.#unsettled.clear()
      return this.#state
    }
  }
}

function assertNo(problem: ContentProblem | undefined): void {
  if (problem === undefined) return
  throw new ToolFailedError('tool-failed', `the custom state is ${describeContentProblem(problem)}`)
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
