import { type Clock, type Logger, systemClock } from '@helix-agents/core'
import { backoffMs, withDeadline } from '@helix-agents/core/provider'
import { FleetError } from '@helix-agents/core/runtime'
import type { FleetEvent } from '../fleet-context.ts'
import type { Alert, AlertSink } from './alert.ts'

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_RETRIES = 2

/**
 * Alerts as lines of the log: their name is the text and the field `alert`, what they say is the
 * field `detail`, so that no logger takes a field for the text.
 */
export function logAlertSink(logger: Logger): AlertSink {
  return {
    send: (alert) => {
      const { message: detail, name, ...rest } = alert
      const fields = { alert: name, detail, ...rest }
      if (alert.state === 'resolved') logger.info(fields, name)
      else if (alert.severity === 'critical') logger.error(fields, name)
      else logger.warn(fields, name)
    },
  }
}

/** Options of `webhookAlertSink`. */
export interface WebhookAlertSinkOptions {
  /** Gets a `POST` with the alert as JSON. */
  readonly url: string
  /** Such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Retries of an alert that could not be delivered. Default 2. */
  readonly retries?: number
  /** Longest wait for one answer, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number
  /** Default: that of the platform. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Default: the time of the machine. */
  readonly clock?: Clock
}

/**
 * Alerts to an address. An answer other than 2xx is a failure, also one that sends elsewhere. What
 * fails in the end is logged by the fleet: without the address, which often is a secret.
 * @throws {FleetError} `config-invalid` when the address is none.
 */
export function webhookAlertSink(options: WebhookAlertSinkOptions): AlertSink {
  const { clock = systemClock, retries = DEFAULT_RETRIES, url } = options
  if (!URL.canParse(url)) {
    throw new FleetError('config-invalid', 'the address of the webhook cannot be used')
  }
  return {
    send: async (alert) => {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await post(options, alert)
        } catch (error) {
          if (attempt >= retries) throw error
        }
        await clock.sleep(backoffMs(attempt, Math.random))
      }
    },
  }
}

async function post(options: WebhookAlertSinkOptions, alert: Alert): Promise<void> {
  const { clock = systemClock, headers = {}, timeoutMs = DEFAULT_TIMEOUT_MS, url } = options
  const overrun = new AbortController()
  const onTimeout = (): FleetError => {
    const error = new FleetError('driver-failed', 'the webhook did not answer in time')
    overrun.abort(error)
    return error
  }
  const send = options.fetch ?? ((to: string, init: RequestInit) => fetch(to, init))
  const call = reach(() =>
    send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(alert),
      redirect: 'manual',
      signal: overrun.signal,
    }),
  )
  const response = await withDeadline(call, { clock, timeoutMs, onTimeout })
  await response.body?.cancel()
  if (!response.ok) {
    throw new FleetError('driver-failed', `the webhook answered with ${response.status}`)
  }
}

/** Errors of a request may name its address and its headers. */
async function reach(call: () => Promise<Response>): Promise<Response> {
  try {
    return await call()
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown error'
    throw new FleetError('driver-failed', `the webhook could not be reached (${name})`)
  }
}

/** What of an Analytics Engine dataset is used. A binding fits as it is. */
export interface AnalyticsDataset {
  writeDataPoint(point: {
    readonly blobs?: string[]
    readonly doubles?: number[]
    readonly indexes?: string[]
  }): void
}

/**
 * Data points of Analytics Engine, for `onEvent` and `alertSinks`. Its one index is the kind of
 * point, `sandbox:lifecycle` or `sandbox:alert`; blobs are the event, the sandbox or the alert, the
 * provider or the severity, the environment, and the reason or state.
 */
export function analyticsSink(
  dataset: AnalyticsDataset,
): AlertSink & { readonly onEvent: (event: FleetEvent) => void } {
  return {
    onEvent: ({ type, sandboxId, provider, environment, reason = '', at }) =>
      dataset.writeDataPoint({
        indexes: ['sandbox:lifecycle'],
        blobs: [type, sandboxId, provider, environment, reason],
        doubles: [at, 1],
      }),
    send: ({ name, severity, environment, state, value, threshold, at }: Alert) =>
      dataset.writeDataPoint({
        indexes: ['sandbox:alert'],
        blobs: ['alert', name, severity, environment, state],
        doubles: [at, value, threshold],
      }),
  }
}

/** What of an OpenTelemetry meter is used. A `Meter` fits as it is. */
export interface FleetMeter {
  createCounter(
    name: string,
    options: { readonly description: string },
  ): { add(value: number, attributes: Record<string, string>): void }
}

/** Counts what happens to sandboxes on an OpenTelemetry meter, for `onEvent`. */
export function meterEventSink(meter: FleetMeter): (event: FleetEvent) => void {
  const events = meter.createCounter('helix.fleet.events', {
    description: 'What happened to sandboxes.',
  })
  return ({ type, provider, environment, reason = '' }) =>
    events.add(1, { event: type, provider, environment, reason })
}
