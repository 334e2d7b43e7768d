import { applyEdit, type Mutant } from './mutants.ts'
import type { Place } from './places.ts'
import { ACTIVE_MUTANT, REACHED_FILE, RECORDING } from './tests/protocol.ts'

/** A mutant under the number that switches it on. */
export interface NumberedMutant extends Mutant {
  /** From 1, unique within a program. */
  readonly id: number
}

/**
 * Stands at the end of a file, so that no line moves; as a declaration it is there from the start.
 * The tests put the state into the global, other processes and threads read the environment. What a file
 * reaches between its start and its end, it does once in a process: a test may be the first to load it.
 */
const SWITCH = `
function __mutantState() {
  const env = globalThis.process?.env ?? {}
  return (globalThis.helixMutants ??= {
    active: Number(env.${ACTIVE_MUTANT} ?? 0), reached: new Set(), loaded: new Set(), loading: 0,
    file: env.${REACHED_FILE} })
}
function __mutant(id) {
  const state = __mutantState()
  const reached = state.loading > 0 ? state.loaded : state.reached
  if (state.active === ${RECORDING} && !reached.has(id)) {
    reached.add(id)
    if (state.file) globalThis.process.getBuiltinModule('node:fs').appendFileSync(state.file, id + '\\n')
  }
  return state.active === id
}
`
const START = '__mutantState().loading += 1;'
const END = '__mutantState().loading -= 1;\n'

/** A place with its mutants, and the places within it. */
interface Branch {
  readonly place: Place
  readonly mutants: NumberedMutant[]
  readonly inner: Branch[]
}

/** The text of a file with all its mutants in it, each behind its switch. */
export function schemaOf(text: string, mutants: readonly NumberedMutant[]): string {
  if (mutants.length === 0) return text
  const root: Branch = {
    place: { start: 0, end: text.length, kind: 'statement' },
    mutants: [],
    inner: [],
  }
  const outerFirst = mutants.toSorted(
    ({ place: one }, { place: other }) => one.start - other.start || other.end - one.end,
  )
  for (const mutant of outerFirst) insert(root, mutant)
  const program = withInner(text, root)
  const start = /^#!.*\n/.exec(program)?.[0].length ?? 0
  return `${program.slice(0, start)}${START}${program.slice(start)}${SWITCH}${END}`
}

function insert(branch: Branch, mutant: NumberedMutant): void {
  const { place } = mutant
  const around = branch.inner.find(
    (each) => each.place.start <= place.start && place.end <= each.place.end,
  )
  if (around === undefined) branch.inner.push({ place, mutants: [mutant], inner: [] })
  else if (isSame(around.place, place)) around.mutants.push(mutant)
  else insert(around, mutant)
}

function isSame(one: Place, other: Place): boolean {
  return one.start === other.start && one.end === other.end && one.kind === other.kind
}

/** The text of a place with its inner places switched, from the back so that the offsets hold. */
function withInner(text: string, { place, inner }: Branch): string {
  let result = text.slice(place.start, place.end)
  for (const branch of inner.toReversed()) {
    const start = branch.place.start - place.start
    const end = branch.place.end - place.start
    result = applyEdit(result, { start, end, text: switched(text, branch) })
  }
  return result
}

function switched(text: string, branch: Branch): string {
  let result = withInner(text, branch)
  for (const { id, edit } of branch.mutants) {
    const mutated = mutatedPlace(text, branch.place, edit)
    result =
      branch.place.kind === 'expression'
        ? `(__mutant(${id}) ? (${mutated}) : (${result}))`
        : `{ if (__mutant(${id})) { ${mutated} } else { ${result} } }`
  }
  return result
}

function mutatedPlace(text: string, place: Place, edit: Mutant['edit']): string {
  const within = { ...edit, start: edit.start - place.start, end: edit.end - place.start }
  return applyEdit(text.slice(place.start, place.end), within)
}
