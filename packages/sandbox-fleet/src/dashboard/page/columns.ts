import type { WireSandbox } from '../../http/wire.ts'
import { element } from './elements.ts'
import { mattersOf, ownerOf, resourcesOf, severityOf } from './facts.ts'
import { formatMinutes } from './format.ts'

/** A column of the table: how a cell looks, and by what it sorts. */
export interface Column {
  readonly id: string
  readonly title: string
  readonly sortBy: (sandbox: WireSandbox) => number | string
  readonly cell: (sandbox: WireSandbox) => readonly (Node | string)[]
}

export const COLUMNS: readonly Column[] = [
  {
    id: 'status',
    title: 'Status',
    sortBy: severityOf,
    cell: (sandbox) => [tag(sandbox.status), ...(sandbox.owed === null ? [] : [' ', tag('owed')])],
  },
  { id: 'id', title: 'Sandbox', sortBy: (sandbox) => sandbox.id, cell: nameCell },
  {
    id: 'age',
    title: 'Age',
    sortBy: (sandbox) => sandbox.age_minutes,
    cell: (sandbox) => [formatMinutes(sandbox.age_minutes)],
  },
  { id: 'owner', title: 'Owner', sortBy: ownerOf, cell: (sandbox) => [ownerOf(sandbox)] },
  {
    id: 'resources',
    title: 'CPU, memory',
    sortBy: (sandbox) => sandbox.cpu_percent ?? -1,
    cell: (sandbox) => [resourcesOf(sandbox)],
  },
  {
    id: 'activity',
    title: 'Last activity',
    sortBy: (sandbox) => sandbox.idle_minutes,
    cell: (sandbox) => [`${formatMinutes(sandbox.idle_minutes)} ago`],
  },
  { id: 'reason', title: 'What is the matter', sortBy: severityOf, cell: reasonCell },
]

export function tag(name: string): HTMLElement {
  return element('span', { class: `tag ${name}` }, name)
}

function nameCell(sandbox: WireSandbox): readonly (Node | string)[] {
  const name = [sandbox.id, element('br'), element('span', { class: 'quiet' }, sandbox.provider)]
  return sandbox.critical ? [...name, ' ', tag('spared in an emergency')] : name
}

function reasonCell(sandbox: WireSandbox): readonly Node[] {
  return mattersOf(sandbox).map((text) => element('span', { class: 'reason' }, text))
}
