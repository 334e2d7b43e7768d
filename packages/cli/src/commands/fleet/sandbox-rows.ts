import type { Cell, Tone } from '../../output/cell.ts'
import { toDurationText } from '../../output/duration-text.ts'
import type { Output } from '../../output/output.ts'
import type { Column } from '../../output/table.ts'
import type { SandboxAnswer } from './client/fleet-answers.ts'

const MINUTE_MS = 60_000

export const SANDBOX_COLUMNS: readonly Column[] = [
  { title: 'sandbox' },
  { title: 'status' },
  { title: 'age', align: 'right' },
  { title: 'idle', align: 'right' },
  { title: 'agent', minWidth: 8, isOptional: true },
  { title: 'task', minWidth: 8, isOptional: true },
  { title: 'cpu', align: 'right', isOptional: true },
  { title: 'memory', align: 'right', isOptional: true },
  { title: 'findings', minWidth: 12 },
]

const TONES: ReadonlyMap<string, Tone> = new Map(
  Object.entries<Tone>({
    running: 'good',
    provisioning: 'warning',
    terminating: 'warning',
    failed: 'bad',
    terminated: 'faint',
  }),
)

/** Whether it needs attention: it is stuck, or its destroy is owed. */
export function needsAttention({ findings, owed }: SandboxAnswer): boolean {
  return (owed?.attempts ?? 0) > 0 || findings.some(({ severity }) => severity === 'critical')
}

export function toSandboxRow(sandbox: SandboxAnswer): Cell[] {
  return [
    sandbox.id,
    statusCell(sandbox.status),
    toMinutesText(sandbox.age_minutes),
    toMinutesText(sandbox.idle_minutes),
    sandbox.agent_type ?? '-',
    sandbox.task_id ?? '-',
    cpuText(sandbox.cpu_percent),
    memoryText(sandbox.memory_mb),
    findingsCell(sandbox),
  ]
}

export function statusCell(status: string): Cell {
  const tone = TONES.get(status)
  return tone === undefined ? status : { text: status, tone }
}

export function toMinutesText(minutes: number | undefined): string {
  return minutes === undefined ? '-' : toDurationText(minutes * MINUTE_MS)
}

export function cpuText(percent: number | null | undefined): string {
  return typeof percent === 'number' ? `${Math.round(percent)}%` : '-'
}

export function memoryText(megabytes: number | null | undefined): string {
  return typeof megabytes === 'number' ? `${Math.round(megabytes)} MB` : '-'
}

function findingsCell(sandbox: SandboxAnswer): Cell {
  const text = sandbox.findings.map(({ code }) => code).join(', ')
  if (text === '') return '-'
  return { text, tone: needsAttention(sandbox) ? 'bad' : 'warning' }
}

/** What is wrong and what is done about it, one line a finding. */
export function printFindings(sandbox: SandboxAnswer, output: Output): void {
  for (const { code, severity, reason, action } of sandbox.findings) {
    const tone = severity === 'critical' ? 'bad' : 'warning'
    output.line({ text: `${sandbox.id}: ${code}: ${reason} ${action}`, tone })
  }
}
