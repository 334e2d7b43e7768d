// What each operation ends in under each fault: the tests hold the provider to it, and the page of
// the documentation shows it.
import { faults, type FaultCase, type FaultName } from './faults.ts'
import { type Group, type Operation, operations } from './operations.ts'

/** Ends, as the page of the documentation names them. */
export const ends = {
  done: 'ok',
  repeat: 'WorkspaceEvictedError evicted no transient',
  unknown: 'WorkspaceEvictedError evicted unknown transient',
  lost: 'WorkspaceEvictedError lost unknown transient',
  gone: 'ToolInputError invalid-input',
  later: 'WorkspaceFailedError provider-failed transient',
  failed: 'WorkspaceFailedError provider-failed',
} as const

export type End = keyof typeof ends

/** One of the ends; which one is a matter of milliseconds. */
export type Cell = readonly End[]

/** The same for a group, but for the operations that are named. */
interface Row {
  readonly groups: Readonly<Record<Group, Cell>>
  readonly others?: Readonly<Record<string, Cell>>
}

const [DONE, REPEAT, UNKNOWN, LATER] = [['done'], ['repeat'], ['unknown'], ['later']] as const
const EVICTED = ['repeat', 'unknown'] as const

const groups = (
  [reads, changes, commands, code]: readonly [Cell, Cell, Cell, Cell],
  [snapshots, forks, attaching]: readonly [Cell, Cell, Cell],
): Row['groups'] => ({ reads, changes, commands, code, snapshots, forks, attaching })

/** The first call is made again when its fate is not known. */
const REPEATED = {
  'fs.writeFile of 2 MB': DONE,
  'fs.writeStream': DONE,
  'fs.edit': DONE,
  'shell.kill': DONE,
  'code.deleteContext': DONE,
}
const cut: Row = {
  groups: groups([DONE, UNKNOWN, UNKNOWN, UNKNOWN], [DONE, DONE, DONE]),
  others: REPEATED,
}
const fine: Row = { groups: groups([DONE, DONE, DONE, DONE], [DONE, DONE, DONE]) }

/** Whose first call may start a container: another one may have been first. */
const STARTING = {
  'fs.writeFile of 200 kB': EVICTED,
  'fs.writeFile of 2 MB': EVICTED,
  'fs.writeStream': EVICTED,
  'shell.run, read while it runs': EVICTED,
}
/** A code context ends with its container: of a new one it is unknown. */
const GONE_ALREADY: Cell = ['done', 'repeat', 'unknown', 'gone']
const CONTEXT_GONE: Cell = ['repeat', 'unknown', 'gone']
const slept: Row = {
  groups: groups([REPEAT, REPEAT, REPEAT, REPEAT], [REPEAT, DONE, DONE]),
  others: { ...STARTING, 'code.deleteContext': GONE_ALREADY, resolve: ['lost', 'later'] },
}
const killed: Row = {
  groups: groups([EVICTED, EVICTED, EVICTED, EVICTED], [EVICTED, DONE, ['done', 'lost', 'later']]),
  others: { 'code.deleteContext': GONE_ALREADY, 'code.runInContext': CONTEXT_GONE },
}

/** The answer may be on its way already. */
const MEANWHILE: Cell = ['done', 'repeat', 'unknown']
const killedMeanwhile: Row = {
  groups: groups(
    [MEANWHILE, MEANWHILE, MEANWHILE, [...MEANWHILE, 'gone']],
    [MEANWHILE, DONE, ['done', 'lost', 'later']],
  ),
}

export const rows: Readonly<Record<FaultName, Row>> = {
  'cut before the container has it': cut,
  'cut after the container has it': cut,
  'answer lost': cut,
  'network slow': fine,
  'network frozen': {
    groups: groups([UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN], [UNKNOWN, DONE, LATER]),
    // The run is out of its own time, and ending it may take longer than there is.
    others: { 'code.runInContext': ['done', 'unknown'] },
  },
  'container slept before': slept,
  'container slept, slow start': slept,
  'container slept, no room': {
    groups: groups([REPEAT, REPEAT, REPEAT, REPEAT], [REPEAT, DONE, LATER]),
    others: { resolve: ['lost', 'later'] },
  },
  'container slept, none listens': {
    groups: groups([UNKNOWN, REPEAT, REPEAT, REPEAT], [UNKNOWN, DONE, LATER]),
    others: {
      ...STARTING,
      'fs.edit': UNKNOWN,
      'shell.kill': UNKNOWN,
      'code.deleteContext': UNKNOWN,
      resolve: ['lost', 'later'],
    },
  },
  'container killed before': killed,
  'container killed meanwhile': killedMeanwhile,
  'container sleeps meanwhile': killedMeanwhile,
  'engine gone, container runs': { ...fine, others: { 'resolve of a fork': LATER } },
}

export function cellOf(fault: FaultName, { name, group }: Operation): Cell {
  const row = rows[fault]
  return row.others?.[name] ?? row.groups[group]
}

/** What may have become of a change, given how it ended. */
export function effectsOf(fault: FaultName, end: string): readonly string[] {
  if (end === ends.done) return ['done']
  if (end === ends.repeat || fault === 'cut before the container has it') return ['not done']
  return ['done', 'not done']
}

const COLUMNS: readonly (readonly [Group, string])[] = [
  ['reads', 'reads'],
  ['changes', 'changes of files'],
  ['commands', 'commands'],
  ['code', 'code'],
  ['snapshots', '`snapshot`'],
  ['forks', '`restore`, `branch`'],
  ['attaching', 'opening'],
]

/** The table of the page: a line for each fault, a column for each group. */
export function renderMatrix(): readonly (readonly string[])[] {
  const head = ['When', ...COLUMNS.map(([, title]) => title)]
  const lines = Object.entries<FaultCase>(faults).map(([name, { title }]) => [
    title,
    ...COLUMNS.map(([group]) => renderCell(name as FaultName, group)),
  ])
  return [head, ...lines]
}

function renderCell(fault: FaultName, group: Group): string {
  const own = operations.filter((one) => one.group === group)
  const found = new Set(own.flatMap((one) => [...cellOf(fault, one)]))
  return (Object.keys(ends) as End[]).filter((end) => found.has(end)).join(', ')
}
