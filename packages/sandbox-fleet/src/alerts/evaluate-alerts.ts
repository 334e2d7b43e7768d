import { withDeadline } from '@helix-agents/core/provider'
import type { FleetContext } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import { type FleetStats, stateKey } from '../fleet-stats.ts'
import {
  type Alert,
  type AlertName,
  type AlertPolicy,
  type AlertSink,
  type AlertState,
  parseAlertStates,
} from './alert.ts'
import { type AlertMeasure, type AlertStep, stepAlert } from './step-alert.ts'

const STATE = 'alerts'
/** Longer than the retries of a webhook take. */
const SINK_TIMEOUT_MS = 60_000
const LEASE_MS = SINK_TIMEOUT_MS + 30_000

interface Rule {
  readonly name: AlertName
  readonly severity: Alert['severity']
  readonly value: number
  readonly threshold: number
  readonly message: string
  readonly measure: AlertMeasure
  /** Fires and resolves without delay: what it measures is a duration already. */
  readonly isImmediate?: boolean
}

export interface AlertContext {
  readonly fleet: FleetContext
  readonly policy: AlertPolicy
  readonly sinks: readonly AlertSink[]
}

/**
 * Evaluates the alerts and notifies the sinks of those that have fired, escalated or resolved since
 * the last evaluation. Several processes that evaluate at once notify once.
 * @returns the alerts that are firing
 * @throws {FleetError} `unavailable`
 */
export async function evaluateAlerts(
  context: AlertContext,
  stats: FleetStats,
): Promise<readonly Alert[]> {
  const { clock, store } = context.fleet
  const key = stateKey(context.fleet, STATE)
  const now = clock.now()
  const check = async (): Promise<readonly Check[]> => {
    const states = parseAlertStates(await store.readState(key))
    return rulesOf(context, stats).map((rule) => checkRule(context, rule, states[rule.name], now))
  }
  const checks = await check()
  // Most checks change nothing: they write nothing either.
  if (checks.some(hasChanged)) await commitChecks(context, key, check)
  return checks.flatMap(({ rule, step }) =>
    step.state.isFiring ? [toAlert(context, rule, step.state, now)] : [],
  )
}

/** The state of one alert before and after an evaluation. */
interface Check {
  readonly rule: Rule
  readonly before: AlertState
  readonly step: AlertStep
}

function checkRule(
  context: AlertContext,
  rule: Rule,
  before: AlertState = { isFiring: false },
  now: number,
): Check {
  return { rule, before, step: stepAlert(before, rule.measure, timesOf(context, rule), now) }
}

function hasChanged({ before, step: { state, notify: what } }: Check): boolean {
  const isSame =
    before.isFiring === state.isFiring &&
    before.since === state.since &&
    before.pendingSince === state.pendingSince &&
    before.clearSince === state.clearSince &&
    before.isEscalated === state.isEscalated
  return what !== undefined || !isSame
}

/** Of concurrent evaluations, also in one process, one stores the states and notifies the sinks. */
async function commitChecks(
  context: AlertContext,
  key: string,
  check: () => Promise<readonly Check[]>,
): Promise<void> {
  const { clock, instanceId, random, store } = context.fleet
  const now = clock.now()
  const holder = `${instanceId}:${random()}`
  const token = await store.acquireLease({ name: key, holder, ttlMs: LEASE_MS, now })
  if (token === undefined) return
  const checks = await check()
  const next = checks.map(({ rule, step }) => [rule.name, { ...step.state }] as const)
  await store.writeState(key, Object.fromEntries(next))
  // From here on other processes consider them sent.
  await Promise.all(checks.map(({ rule, step }) => notify(context, rule, step, now)))
  await store.releaseLease({ name: key, token })
}

function timesOf({ policy }: AlertContext, rule: Rule) {
  const { clearForMs, escalateAfterMs, forMs } = policy
  return rule.isImmediate === true
    ? { forMs: 0, clearForMs: 0, escalateAfterMs }
    : { forMs, clearForMs, escalateAfterMs }
}

function rulesOf(context: AlertContext, stats: FleetStats): readonly Rule[] {
  return [
    timeoutRule(context, stats),
    leakRule(context, stats),
    cleanupRule(context, stats),
    owedRule(context, stats),
  ]
}

function timeoutRule({ policy }: AlertContext, { usage }: FleetStats): Rule {
  const { executions, timeouts } = usage
  const ratio = executions < policy.timeoutMinExecutions ? 0 : timeouts / executions
  return {
    name: 'sandbox_timeout_high',
    severity: 'warning',
    value: ratio,
    threshold: policy.timeoutRatio,
    message: `${timeouts} of ${executions} operations timed out`,
    measure: {
      isBad: ratio > policy.timeoutRatio,
      // None at all ends it, whatever the limit is.
      isGood: ratio === 0 || ratio < policy.timeoutRatioClear,
      isSevere: false,
    },
  }
}

function leakRule({ policy }: AlertContext, { active }: FleetStats): Rule {
  return {
    name: 'sandbox_leak_detected',
    severity: 'critical',
    value: active,
    threshold: policy.leakActive,
    message: `${active} sandboxes are active`,
    measure: {
      isBad: active > policy.leakActive,
      isGood: active <= policy.leakActiveClear,
      isSevere: active > policy.escalateActive,
    },
  }
}

function cleanupRule({ fleet, policy }: AlertContext, stats: FleetStats): Rule {
  const { firstSandboxAt, lastCleanupAt } = stats
  const now = fleet.clock.now()
  const silentMs = now - (lastCleanupAt ?? firstSandboxAt ?? now)
  const allowedMs = policy.missedPasses * fleet.policy.sweepIntervalMs
  const isBad = silentMs > allowedMs
  return {
    name: 'sandbox_cleanup_not_running',
    severity: 'critical',
    value: silentMs,
    threshold: allowedMs,
    message: silentText(stats, Math.round(silentMs / 60_000)),
    measure: { isBad, isGood: !isBad, isSevere: true },
    isImmediate: true,
  }
}

function silentText({ lastCleanupAt }: FleetStats, minutes: number): string {
  return lastCleanupAt === undefined
    ? `no cleanup has ever ended, and the first sandbox was made ${minutes} min ago`
    : `no cleanup has ended for ${minutes} min`
}

function owedRule({ policy }: AlertContext, { terminating }: FleetStats): Rule {
  const isBad = terminating > policy.owedDestroys
  return {
    name: 'sandbox_destroy_owed',
    severity: 'warning',
    value: terminating,
    threshold: policy.owedDestroys,
    message: `${terminating} destroys are not confirmed`,
    measure: { isBad, isGood: !isBad, isSevere: false },
  }
}

async function notify(
  context: AlertContext,
  rule: Rule,
  { state, notify: what }: AlertStep,
  now: number,
): Promise<void> {
  if (what === undefined) return
  const alert = toAlert(context, rule, state, now)
  await Promise.all(context.sinks.map((sink) => sendTo(sink, alert, context)))
}

function tooSlow(): Error {
  return new Error(`the sink exceeded ${SINK_TIMEOUT_MS} ms`)
}

/** Never rejects, and has a deadline: a sink is code of the application. */
async function sendTo(sink: AlertSink, alert: Alert, { fleet }: AlertContext): Promise<void> {
  const send = async (): Promise<void> => sink.send(alert)
  try {
    await withDeadline(send(), {
      clock: fleet.clock,
      timeoutMs: SINK_TIMEOUT_MS,
      onTimeout: tooSlow,
    })
  } catch (err) {
    fleet.logger.warn({ err, alert: alert.name }, fleetMessages.alertLost)
  }
}

function toAlert({ fleet }: AlertContext, rule: Rule, state: AlertState, now: number): Alert {
  const { name, severity, value, threshold, message } = rule
  return {
    name,
    severity,
    value,
    threshold,
    message,
    state: state.isFiring ? 'firing' : 'resolved',
    environment: fleet.environment,
    escalate: state.isEscalated === true,
    since: state.since ?? now,
    at: now,
  }
}
