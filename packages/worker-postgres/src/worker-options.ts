import { hostname } from 'node:os'
import { type Agent, type Clock, type Logger, noopLogger, systemClock } from '@helix-agents/core'
import { hasMethod, type SessionStateStore } from '@helix-agents/core/runtime'
import type { JSAgentExecutor } from '@helix-agents/runtime-js'
import { QueueError } from './queue-error.ts'
import { isColumnText } from './turn.ts'
import type { TurnQueue } from './turn-queue.ts'

/** Options of {@link createWorker}. */
export interface WorkerOptions {
  /** Where turns come from. */
  readonly queue: TurnQueue
  /** The store of the executor: sessions of dead machines are found in it. */
  readonly stateStore: SessionStateStore
  /** The agents that this worker runs; a turn of another one waits for a worker that knows it. */
  readonly agents: readonly Agent[]
  /**
   * Turns at a time. Sessions that are taken over come on top, as many at most. A whole number, at least 1.
   * Default: 4.
   */
  readonly concurrency?: number
  /**
   * Turns of one tenant at a time, on all machines together: less than all workers can run leaves room for
   * the others. A whole number, at least 1. Default: `concurrency`.
   */
  readonly turnsPerTenant?: number
  /** Name of the machine, for people. Default: its host name. */
  readonly machine?: string
  /**
   * Longest time between two searches for sessions of dead machines, in milliseconds: half of the
   * executor's `leaseMs` at most, so that none is found late. Default: 20 000.
   */
  readonly searchMs?: number
  /**
   * Longest time between two polls of the queue, in milliseconds; new turns wake the worker before. Retries
   * and delayed turns start that much late. Default: 1 000.
   */
  readonly pollMs?: number
  /**
   * Kinds of workspaces whose files are on one machine: a session with one of them stays with its machine
   * while that lives. None: any worker claims any turn. Default: `['local-bash', 'in-memory']`.
   */
  readonly affinityKinds?: readonly string[]
  /**
   * How long a turn waits for the machine of its session when all those workspaces have a history, in
   * milliseconds; then another one takes it. Without a history it waits while the machine lives.
   * A whole number, at least 1. Default: 5 000.
   */
  readonly affinityWaitMs?: number
  /**
   * Longest interval of the heartbeat, in milliseconds; a third of the executor's `leaseMs` at most.
   * Silent for the lease, a machine counts as gone. Default: 5 000.
   */
  readonly heartbeatMs?: number
  /** Receives the log. Default: no log. */
  readonly logger?: Logger
  /** Source of time; tests inject one. Default: the system clock. */
  readonly clock?: Clock
}

/** Every option, with its default where none was given. */
export type ParsedWorkerOptions = Required<WorkerOptions>

const NUMBERS = [
  'concurrency',
  'turnsPerTenant',
  'searchMs',
  'pollMs',
  'affinityWaitMs',
  'heartbeatMs',
] as const

/** @throws {QueueError} `invalid-option` for what a worker cannot use. */
export function parseWorkerOptions(
  executor: JSAgentExecutor,
  options: WorkerOptions,
): ParsedWorkerOptions {
  assertMethod(executor, 'execute', 'the first argument must be an executor')
  assertMethod(options?.queue, 'consume', 'queue must be what openTurnQueue returned')
  assertMethod(options.stateStore, 'loadSession', 'stateStore must be the store of the executor')
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const parsed: ParsedWorkerOptions = {
    ...defaultsOf(options),
    ...Object.fromEntries(given),
  }
  for (const name of NUMBERS) assertWhole(name, parsed[name])
  assertLists(parsed)
  if (isColumnText(parsed.machine)) return parsed
  throw invalid('machine must be a text of whole characters without NUL')
}

function defaultsOf({ queue, stateStore, agents, concurrency = 4 }: WorkerOptions) {
  return {
    queue,
    stateStore,
    agents,
    concurrency,
    turnsPerTenant: concurrency,
    machine: hostname(),
    searchMs: 20_000,
    pollMs: 1000,
    affinityKinds: ['local-bash', 'in-memory'],
    affinityWaitMs: 5000,
    heartbeatMs: 5000,
    logger: noopLogger,
    clock: systemClock,
  }
}

function assertWhole(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return
  throw invalid(`${name} must be a whole number, at least 1`)
}

function assertLists({ agents, affinityKinds }: ParsedWorkerOptions): void {
  if (!Array.isArray(agents) || !agents.every(isAgent)) {
    throw invalid('agents must be a list of agents that defineAgent has made')
  }
  if (Array.isArray(affinityKinds) && affinityKinds.every((kind) => typeof kind === 'string'))
    return
  throw invalid("affinityKinds must be a list of kinds such as ['local-bash']")
}

function assertMethod(value: unknown, method: string, problem: string): void {
  if (!hasMethod(value, method)) throw invalid(problem)
}

function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && 'name' in value && 'workspaces' in value
}

function invalid(detail: string): QueueError {
  return new QueueError('invalid-option', detail)
}
