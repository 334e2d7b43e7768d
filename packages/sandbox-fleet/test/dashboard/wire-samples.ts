// What the HTTP API says of sandboxes, as the page reads it.
import type { WireSandbox } from '../../src/http/wire.ts'

export const NOW = Date.parse('2026-01-01T12:00:00.000Z')
export const isoOf = (ms: number): string => new Date(ms).toISOString()

const BASE: WireSandbox = {
  id: 'a',
  generation: 1,
  provider: 'fake',
  status: 'running',
  environment: 'test',
  created_at: isoOf(NOW),
  age_minutes: 1,
  last_activity_at: isoOf(NOW),
  idle_minutes: 0,
  status_since: isoOf(NOW),
  agent_type: null,
  task_id: null,
  session_id: null,
  tenant: null,
  hold_deadline_at: null,
  critical: false,
  operations: 0,
  timeouts: 0,
  cpu_percent: null,
  memory_mb: null,
  kill_reason: null,
  owed: null,
  last_error: null,
  findings: [],
}

export const OWED = { since: isoOf(NOW), attempts: 2, next_attempt_at: isoOf(NOW) }

export function sandbox(fields: Partial<WireSandbox> = {}): WireSandbox {
  return { ...BASE, ...fields }
}
