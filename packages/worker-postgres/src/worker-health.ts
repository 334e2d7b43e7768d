import type { QueueStats } from './turn-queue.ts'

/** How a worker is. */
export interface WorkerHealth {
  readonly workerId: string
  readonly machine: string
  readonly state: 'created' | 'running' | 'draining' | 'stopped'
  readonly concurrency: number
  /** Ids of the sessions that it runs. */
  readonly sessions: readonly string[]
  /** Turns that ended here, however their runs ended. */
  readonly finishedTurns: number
  /** Turns that could not be started, and are not retried. */
  readonly rejectedTurns: number
  /** Turns that were handed over while it drained. */
  readonly handedOverTurns: number
  /** Sessions that it took over from machines that died. */
  readonly takeovers: number
  /** Sessions that stay with this machine, counted with the queue; absent before the first one. */
  readonly stayingSessions?: number
  /** The queue of all machines, counted `ageMs` ago, which is every 30 s; absent before the first heartbeat. */
  readonly queue?: QueueStats & { readonly ageMs: number }
  /** How long its last claim of turns took, in milliseconds; absent before the first one. */
  readonly claimMs?: number
}

/** What a worker counted at a moment. */
export interface Counted {
  readonly at: number
  readonly stats: QueueStats
  readonly staying: number
}

export function countsOf(
  { at, stats, staying }: Counted,
  now: number,
): Pick<WorkerHealth, 'queue' | 'stayingSessions'> {
  return { stayingSessions: staying, queue: { ...stats, ageMs: now - at } }
}

type Sample = readonly [name: string, type: 'gauge' | 'counter', help: string, value: number]

/** The health of a worker in the text format of Prometheus 0.0.4. */
export function toMetricsText(health: WorkerHealth): string {
  const labels = `{machine=${JSON.stringify(health.machine)}}`
  const lines = samplesOf(health).flatMap(([name, type, help, value]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    `${name}${labels} ${value}`,
  ])
  return `${lines.join('\n')}\n`
}

function samplesOf({
  queue,
  claimMs,
  stayingSessions,
  ...health
}: WorkerHealth): readonly Sample[] {
  const own: readonly Sample[] = [
    ['helix_worker_sessions', 'gauge', 'Sessions that run here.', health.sessions.length],
    ['helix_worker_concurrency', 'gauge', 'Turns at a time.', health.concurrency],
    ['helix_worker_finished_turns_total', 'counter', 'Turns that ended.', health.finishedTurns],
    ['helix_worker_rejected_turns_total', 'counter', 'Turns not started.', health.rejectedTurns],
    ['helix_worker_handed_over_turns_total', 'counter', 'Drained turns.', health.handedOverTurns],
    ['helix_worker_takeovers_total', 'counter', 'Sessions taken over.', health.takeovers],
  ]
  const claim: readonly Sample[] =
    claimMs === undefined
      ? []
      : [['helix_worker_claim_seconds', 'gauge', 'How long the last claim took.', claimMs / 1000]]
  const staying: readonly Sample[] =
    stayingSessions === undefined
      ? []
      : [['helix_machine_sessions', 'gauge', 'Sessions that stay here.', stayingSessions]]
  if (queue === undefined) return [...own, ...claim, ...staying]
  const oldest = queue.oldestReadyMs / 1000
  return [
    ...own,
    ...claim,
    ...staying,
    ['helix_queue_ready_turns', 'gauge', 'Turns that could start, all machines.', queue.ready],
    ['helix_queue_delayed_turns', 'gauge', 'Turns whose time has not come.', queue.delayed],
    ['helix_queue_active_turns', 'gauge', 'Turns that run, all machines.', queue.active],
    ['helix_queue_oldest_ready_seconds', 'gauge', 'How long the oldest one has waited.', oldest],
    ['helix_queue_age_seconds', 'gauge', 'How old these counts are.', queue.ageMs / 1000],
  ]
}
