import type { z } from '@hono/zod-openapi'
import { diagnose, type DiagnoseContext } from '../detect/diagnose.ts'
import type { FleetStats } from '../fleet-stats.ts'
import type { SandboxUsage } from '../fleet.ts'
import type { SandboxError, SandboxRecord } from '../ledger/sandbox-record.ts'
import type { ReconcileReport } from '../reconcile/reconcile-report.ts'
import type { CleanupReport } from '../sweep/cleanup-report.ts'
import type {
  WireLogs,
  WirePass,
  WireResources,
  WireSandbox,
  WireSandboxDetail,
  WireStats,
} from './wire.ts'

const MINUTE_MS = 60_000
const MAX_LOG_LINES = 1000
const MAX_LOG_CHARACTERS = 1024 * 1024

export function toWireStats(stats: FleetStats, now: number): WireStats {
  const { active, provisioning, running, detached, terminating, failed } = stats
  return {
    active,
    provisioning,
    running,
    detached,
    terminating,
    failed,
    total_created: stats.totalCreated,
    total_destroyed: stats.totalDestroyed,
    executions: stats.usage.executions,
    timeouts: stats.usage.timeouts,
    max_concurrent: stats.capacity,
    usage: stats.usedRatio,
    environment: stats.environment,
    last_cleanup_at: stats.lastCleanupAt === undefined ? null : iso(stats.lastCleanupAt),
    time: iso(now),
  }
}

export function toWireSandbox(record: SandboxRecord, context: DiagnoseContext): WireSandbox {
  const { now } = context
  const sample = record.samples.at(-1)
  return {
    id: record.id,
    generation: record.generation,
    provider: record.provider,
    status: record.status,
    environment: record.environment,
    created_at: iso(record.createdAt),
    age_minutes: minutes(now - record.createdAt),
    last_activity_at: iso(record.lastActivityAt),
    idle_minutes: minutes(now - record.lastActivityAt),
    status_since: iso(record.statusSince),
    ...toWireLabels(record),
    critical: record.critical,
    operations: record.operations,
    timeouts: record.timeouts,
    cpu_percent: sample?.cpuPercent ?? null,
    memory_mb: sample?.memoryMb ?? null,
    hold_deadline_at: record.holdDeadlineAt === undefined ? null : iso(record.holdDeadlineAt),
    kill_reason: record.kill?.reason ?? null,
    ...toWireTroubles(record),
    findings: diagnose(record, context).map(({ kind, severity, reason, nextStep }) => ({
      code: kind,
      severity,
      reason,
      action: nextStep,
    })),
  }
}

function toWireLabels(
  record: SandboxRecord,
): Pick<WireSandbox, 'agent_type' | 'task_id' | 'session_id' | 'tenant'> {
  return {
    agent_type: record.agentType ?? null,
    task_id: record.taskId ?? null,
    session_id: record.sessionId ?? null,
    tenant: record.tenant ?? null,
  }
}

function toWireTroubles({
  owed,
  lastError,
}: SandboxRecord): Pick<WireSandbox, 'owed' | 'last_error'> {
  return {
    owed:
      owed === undefined
        ? null
        : {
            since: iso(owed.since),
            attempts: owed.attempts,
            next_attempt_at: iso(owed.nextAttemptAt),
          },
    last_error: lastError === undefined ? null : toWireError(lastError),
  }
}

export function toWireDetail(record: SandboxRecord, context: DiagnoseContext): WireSandboxDetail {
  return {
    ...toWireSandbox(record, context),
    kill_detail: record.kill?.detail ?? null,
    history: record.history.map((entry) => ({ ...entry, at: iso(entry.at) })),
  }
}

/** The last lines of a driver's logs. */
export function toWireLogs(id: string, text: string): WireLogs {
  const kept = text.slice(-MAX_LOG_CHARACTERS)
  const lines = kept === '' ? [] : kept.replace(/\n$/, '').split('\n')
  const isCut = lines.length > MAX_LOG_LINES || kept.length < text.length
  return { id, lines: lines.slice(-MAX_LOG_LINES), is_cut: isCut }
}

export function toWireResources(usage: SandboxUsage): WireResources {
  return {
    cpu_percent: usage.cpuPercent,
    memory_mb: usage.memoryMb,
    duration_ms: usage.durationMs,
    operations: usage.operations,
  }
}

export function toWireCleanup(report: CleanupReport): WirePass {
  return {
    pass: report.mode === 'emergency' ? 'emergency' : 'cleanup',
    ...toWirePass(report),
    items: report.items.map(({ id, provider, action, reason, detail, outcome }) => ({
      id,
      provider,
      action: action === 'retry' ? 'destroy again' : `destroy (${reason})`,
      reason: detail,
      outcome,
    })),
    spared: report.spared,
    rejected: [],
  }
}

export function toWireReconcile(report: ReconcileReport): WirePass {
  return {
    pass: 'reconcile',
    ...toWirePass(report),
    items: report.items.map(({ id, provider, kind, status, outcome }) => ({
      id,
      provider,
      action: RECONCILE_ACTIONS[kind],
      reason: status === undefined ? 'The ledger has no record of it.' : `Its record is ${status}.`,
      outcome,
    })),
    spared: report.skipped === 0 ? {} : { 'no usable id': report.skipped },
    rejected: [...report.rejected],
  }
}

const RECONCILE_ACTIONS = {
  'heal-record': 'record that it is gone',
  'end-orphan': 'adopt it, or end it',
  'destroy-again': 'destroy again',
} as const

function toWirePass(
  report: CleanupReport | ReconcileReport,
): Pick<WirePass, 'dry_run' | 'outcome' | 'started_at' | 'finished_at' | 'error'> {
  return {
    dry_run: report.isDryRun,
    outcome: report.outcome,
    started_at: iso(report.startedAt),
    finished_at: iso(report.finishedAt),
    error: report.error ?? null,
  }
}

function toWireError({ at, cause, code, message }: SandboxError): WireSandbox['last_error'] {
  return { code, message, cause: cause ?? null, at: iso(at) }
}

function iso(ms: number): z.infer<z.ZodISODateTime> {
  return new Date(ms).toISOString()
}

/** With one decimal: what a person compares. */
function minutes(ms: number): number {
  return Math.round((Math.max(0, ms) / MINUTE_MS) * 10) / 10
}
