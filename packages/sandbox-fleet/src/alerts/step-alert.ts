import type { AlertState } from './alert.ts'

/** One measurement. */
export interface AlertMeasure {
  /** The limit is passed. */
  readonly isBad: boolean
  /** The value is below the lower limit, at which the alert may end. */
  readonly isGood: boolean
  /** It is far worse than the limit. */
  readonly isSevere: boolean
}

export interface AlertTimes {
  readonly forMs: number
  readonly clearForMs: number
  readonly escalateAfterMs: number
}

export interface AlertStep {
  readonly state: AlertState
  /** The notification to send; absent when nothing has changed. */
  readonly notify?: 'firing' | 'resolved' | 'escalate'
}

/** The next state of an alert. Pure; a value between the limits changes nothing. */
export function stepAlert(
  state: AlertState,
  measure: AlertMeasure,
  times: AlertTimes,
  now: number,
): AlertStep {
  return state.isFiring
    ? stepFiring(state, measure, times, now)
    : stepQuiet(state, measure, times, now)
}

function stepQuiet(
  state: AlertState,
  { isBad }: AlertMeasure,
  { forMs }: AlertTimes,
  now: number,
): AlertStep {
  if (!isBad) return { state: { isFiring: false } }
  const pendingSince = notAfter(now, state.pendingSince)
  if (now - pendingSince < forMs) return { state: { isFiring: false, pendingSince } }
  return { state: { isFiring: true, since: pendingSince }, notify: 'firing' }
}

function stepFiring(
  state: AlertState,
  { isGood, isSevere }: AlertMeasure,
  { clearForMs, escalateAfterMs }: AlertTimes,
  now: number,
): AlertStep {
  const { clearSince: _clear, ...firing } = state
  if (isGood) {
    const clearSince = notAfter(now, state.clearSince)
    if (now - clearSince >= clearForMs) return { state: { isFiring: false }, notify: 'resolved' }
    return { state: { ...firing, clearSince } }
  }
  const lastsMs = now - notAfter(now, state.since)
  if (isSevere && lastsMs >= escalateAfterMs && state.isEscalated !== true) {
    return { state: { ...firing, isEscalated: true }, notify: 'escalate' }
  }
  return { state: firing }
}

/** A clock that was ahead recorded a time that is yet to come: it counts from now. */
function notAfter(now: number, at: number | undefined): number {
  return Math.min(now, at ?? now)
}
