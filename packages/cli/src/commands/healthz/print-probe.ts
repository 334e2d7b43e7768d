import type { HealthSignal, WorkspaceDescription, WorkspaceState } from '@helix-agents/core/runtime'
import type { Cell, Tone } from '../../output/cell.ts'
import { toAgeText, toDurationText } from '../../output/duration-text.ts'
import type { Output } from '../../output/output.ts'
import type { Column } from '../../output/table.ts'
import type { HealthProbe } from './probe.ts'

const COLUMNS: readonly Column[] = [
  { title: 'name', minWidth: 8 },
  { title: 'provider', minWidth: 10 },
  { title: 'state' },
  { title: 'last success', align: 'right' },
  { title: 'evictions', align: 'right' },
  { title: 'last error', minWidth: 10 },
]

const TONES: Readonly<Partial<Record<WorkspaceState, Tone>>> = {
  open: 'good',
  evicted: 'warning',
  failed: 'bad',
}

/** Prints one probe. */
export function printProbe(probe: HealthProbe, output: Output): void {
  if (probe.kind === 'unreachable') return output.problem(probe.reason)
  const { workspaces, signals, now } = probe
  if (workspaces.length === 0) output.line('no workspaces')
  else
    output.table(
      COLUMNS,
      workspaces.map((workspace) => toRow(workspace, now)),
    )
  for (const signal of signals) output.line({ text: `signal: ${toText(signal)}`, tone: 'bad' })
  if (signals.length === 0) output.line({ text: 'no signals', tone: 'good' })
}

function toRow(workspace: WorkspaceDescription, now: number): Cell[] {
  const { state } = workspace
  const tone = TONES[state]
  return [
    workspace.name,
    workspace.providerId,
    tone === undefined ? state : { text: state, tone },
    toAgeText(workspace.lastSuccessAt, now),
    String(workspace.evictions),
    workspace.lastErrorCode ?? '-',
  ]
}

function toText(signal: HealthSignal): string {
  if (signal.kind === 'many-error-codes') {
    return `${signal.providerId} fails in many ways: ${signal.errorCodes.join(', ')}`
  }
  const code = signal.lastErrorCode === undefined ? '' : ` (${signal.lastErrorCode})`
  return `${signal.workspace} is ${signal.kind} for ${toDurationText(signal.forMs)}${code}`
}
