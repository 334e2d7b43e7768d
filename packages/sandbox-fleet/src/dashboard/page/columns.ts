import type { WireFinding, WireSandbox } from '../../http/wire.ts'
import { element } from './elements.ts'
import { formatMinutes } from './format.ts'

/** A column of the table: how a cell looks, and by what it sorts. */
export interface Column {
  readonly id: string
  readonly title: string
  readonly sortBy: (sandbox: WireSandbox) => number | string
  readonly cell: (sandbox: WireSandbox) => readonly (Node | string)[]
}

const SEVERITIES = ['warning', 'critical'] as const

/** The worst of what is the matter; 0 when nothing is. */
export function severityOf(sandbox: WireSandbox): number {
  const found = sandbox.findings.map((finding) => SEVERITIES.indexOf(finding.severity) + 1)
  return Math.max(0, sandbox.owed === null ? 0 : 2, ...found)
}

/** Name of the worst severity, for the style sheet. */
export function severityName(sandbox: WireSandbox): string {
  return SEVERITIES[severityOf(sandbox) - 1] ?? 'none'
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

export function ownerOf(sandbox: WireSandbox): string {
  const parts = [sandbox.agent_type, sandbox.session_id, sandbox.task_id]
  return parts.filter((part) => part !== null).join(' · ') || 'none'
}

function nameCell(sandbox: WireSandbox): readonly (Node | string)[] {
  const name = [sandbox.id, element('br'), element('span', { class: 'quiet' }, sandbox.provider)]
  return sandbox.critical ? [...name, ' ', tag('spared in an emergency')] : name
}

function resourcesOf({ cpu_percent: cpu, memory_mb: memory }: WireSandbox): string {
  if (cpu === null && memory === null) return 'not known'
  return `${cpu === null ? '?' : Math.round(cpu)} %, ${memory === null ? '?' : Math.round(memory)} MB`
}

function reasonCell(sandbox: WireSandbox): readonly Node[] {
  const owed =
    sandbox.owed === null
      ? []
      : [reason(`Destroy not confirmed after ${sandbox.owed.attempts} attempts.`)]
  return [...owed, ...sandbox.findings.map((finding) => reason(sentenceOf(finding)))]
}

function sentenceOf(finding: WireFinding): string {
  return `${finding.reason} ${finding.action}`
}

function reason(text: string): HTMLElement {
  return element('span', { class: 'reason' }, text)
}
