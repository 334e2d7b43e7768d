// What the page says of a sandbox, in words and numbers.
import type { WireFinding, WireSandbox } from '../../http/wire.ts'

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

export function isActive(sandbox: WireSandbox): boolean {
  return sandbox.status !== 'terminated'
}

export function ownerOf(sandbox: WireSandbox): string {
  const parts = [sandbox.agent_type, sandbox.session_id, sandbox.task_id]
  return parts.filter((part) => part !== null).join(' · ') || 'none'
}

export function resourcesOf({ cpu_percent: cpu, memory_mb: memory }: WireSandbox): string {
  if (cpu === null && memory === null) return 'not known'
  return `${cpu === null ? '?' : Math.round(cpu)} %, ${memory === null ? '?' : Math.round(memory)} MB`
}

/** What is the matter, a sentence or two each. */
export function mattersOf({ findings, owed }: WireSandbox): readonly string[] {
  const unconfirmed =
    owed === null ? [] : [`Destroy not confirmed after ${owed.attempts} attempts.`]
  return [...unconfirmed, ...findings.map(sentenceOf)]
}

function sentenceOf(finding: WireFinding): string {
  return `${finding.reason} ${finding.action}`
}
