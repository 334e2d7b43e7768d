import { inspect } from 'node:util'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import {
  type Alert,
  analyticsSink,
  logAlertSink,
  meterEventSink,
  webhookAlertSink,
} from '@helix-agents/sandbox-fleet'
import { createConsoleLogger } from '@helix-agents/telemetry/console'
import { describe, expect, test } from 'vitest'
import { codeOf } from '../store/store-samples.ts'

const alert: Alert = {
  name: 'sandbox_leak_detected',
  severity: 'critical',
  state: 'firing',
  environment: 'test',
  value: 21,
  threshold: 20,
  message: '21 sandboxes are active',
  escalate: false,
  since: 1,
  at: 2,
}

/** A server that does not answer. */
const never = (): Promise<Response> => new Promise(() => undefined)

describe('sinks', () => {
  test('the log has the name of the alert as its text', async () => {
    const logger = new RecordingLogger()
    const sink = logAlertSink(logger)
    for (const one of [alert, { ...alert, severity: 'warning' }, { ...alert, state: 'resolved' }]) {
      await sink.send(one as Alert)
    }
    const lines = logger.with('sandbox_leak_detected')
    expect(lines.map(({ level }) => level)).toEqual(['error', 'warn', 'info'])
    const detail = '21 sandboxes are active'
    expect(lines[0]?.fields).toMatchObject({ alert: 'sandbox_leak_detected', detail })
    expect(lines[0]?.fields).not.toHaveProperty('message')
  })

  test('the console of a Worker gets the name of the alert', async () => {
    const lines: string[] = []
    const write = (line: string): void => void lines.push(line)
    const target = { debug: write, info: write, warn: write, error: write }
    await logAlertSink(createConsoleLogger({ console: target })).send(alert)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'error',
      message: 'sandbox_leak_detected',
      detail: '21 sandboxes are active',
    })
  })

  test('a webhook gets JSON, and its refusal or silence is a failure', async () => {
    const clock = new ManualClock()
    const calls: (readonly [string, RequestInit])[] = []
    const answers = [new Response('ok'), new Response('no', { status: 500 })]
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      calls.push([url, init])
      return answers.shift() ?? new Promise(() => undefined)
    }
    const address = { url: 'https://a.test/hook', headers: { x: 'y' }, retries: 0 }
    const sink = webhookAlertSink({ ...address, fetch, clock })
    await sink.send(alert)
    expect(calls[0]?.[1].body).toBe(JSON.stringify(alert))
    expect(calls[0]?.[1].headers).toMatchObject({ 'content-type': 'application/json', x: 'y' })
    await expect(sink.send(alert)).rejects.toMatchObject({ code: 'driver-failed' })
    const silent = codeOf(Promise.resolve(sink.send(alert)))
    await clock.advance(10_000)
    expect(await silent).toBe('driver-failed')
    expect(calls[2]?.[1].signal?.aborted).toBe(true)
  })

  test('a webhook has as long as `timeoutMs` says', async () => {
    const clock = new ManualClock()
    const options = { url: 'https://a.test', fetch: never, clock, retries: 0, timeoutMs: 50 }
    let code: unknown
    const sending = codeOf(Promise.resolve(webhookAlertSink(options).send(alert)))
    const seen = sending.then((given) => void (code = given))
    await clock.advance(49)
    expect(code).toBeUndefined()
    await clock.advance(1)
    await seen
    expect(code).toBe('driver-failed')
  })

  test('a webhook that was away for a moment gets its alert', async () => {
    const clock = new ManualClock()
    const answers = [502, 200]
    const fetch = async () => new Response(null, { status: answers.shift() ?? 500 })
    const sending = webhookAlertSink({ url: 'https://a.test', fetch, clock }).send(alert)
    await clock.advance(10_000)
    await sending
    expect(answers).toEqual([])
  })

  test('a webhook that was away is asked again after a while, and as often as it may', async () => {
    const clock = new ManualClock()
    let asked = 0
    const fetch = async () => {
      asked += 1
      return new Response(null, { status: 502 })
    }
    const sink = webhookAlertSink({ url: 'https://a.test', fetch, clock })
    const sent = codeOf(Promise.resolve(sink.send(alert)))
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    expect([asked, clock.pendingTimers]).toEqual([1, 1])
    await clock.advance(60_000)
    expect([await sent, asked]).toEqual(['driver-failed', 3])
  })

  test.each([200, 299, 300, 500])('the answer %d of a webhook is let go first', async (status) => {
    const gate = Promise.withResolvers<void>()
    let isCancelled = false
    const body = new ReadableStream({
      cancel: () => {
        isCancelled = true
        return gate.promise
      },
    })
    const fetch = async () => new Response(body, { status })
    const sink = webhookAlertSink({ url: 'https://a.test', fetch, retries: 0 })
    const progress = { isDone: false }
    const sent = codeOf(Promise.resolve(sink.send(alert))).finally(() => {
      progress.isDone = true
    })
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    expect([isCancelled, progress.isDone]).toEqual([true, false])
    gate.resolve()
    expect(await sent).toBe(status < 300 ? 'no error' : 'driver-failed')
  })

  test('Analytics Engine gets what an alert is about', () => {
    const points: unknown[] = []
    const sink = analyticsSink({ writeDataPoint: (point) => void points.push(point) })
    void sink.send(alert)
    sink.onEvent({ type: 'created', sandboxId: 'a', provider: 'p', environment: 'e', at: 7 })
    expect(points).toEqual([
      {
        indexes: ['sandbox:alert'],
        blobs: ['alert', 'sandbox_leak_detected', 'critical', 'test', 'firing'],
        doubles: [2, 21, 20],
      },
      { indexes: ['sandbox:lifecycle'], blobs: ['created', 'a', 'p', 'e', ''], doubles: [7, 1] },
    ])
  })

  test('what a webhook fails with names no address and no header', async () => {
    const url = 'https://hooks.test/services/secret-path'
    const fetch = () => Promise.reject(new TypeError(`cannot reach ${url}`))
    const options = { url, headers: { authorization: 'secret-token' }, fetch, retries: 0 }
    const error = await Promise.resolve(webhookAlertSink(options).send(alert)).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'driver-failed' })
    expect(inspect(error, { depth: 9 })).not.toMatch(/secret/)
    expect(() => webhookAlertSink({ url: 'secret-no-address' })).toThrow(
      expect.objectContaining({ code: 'config-invalid' }),
    )
  })

  test('a webhook that sends elsewhere is a failure, and is not followed', async () => {
    const seen: unknown[] = []
    const fetch = async (_: string, { redirect }: RequestInit) => {
      seen.push(redirect)
      return new Response(null, { status: 307, headers: { location: 'http://169.254.169.254/' } })
    }
    const sink = webhookAlertSink({ url: 'https://a.test', fetch, retries: 0 })
    await expect(sink.send(alert)).rejects.toMatchObject({ code: 'driver-failed' })
    expect(seen).toEqual(['manual'])
  })

  test('Analytics Engine gets one index a point', () => {
    const points: { indexes?: string[]; blobs?: string[] }[] = []
    const sink = analyticsSink({ writeDataPoint: (point) => void points.push(point) })
    sink.onEvent({
      type: 'kill',
      sandboxId: 'a',
      provider: 'p',
      environment: 'e',
      at: 1,
      reason: 'idle',
    })
    void sink.send(alert)
    expect(points.map(({ indexes }) => indexes)).toEqual([['sandbox:lifecycle'], ['sandbox:alert']])
    expect(points[0]?.blobs).toEqual(['kill', 'a', 'p', 'e', 'idle'])
  })

  test('a meter counts by event, provider and reason', () => {
    const added: unknown[] = []
    const meter = { createCounter: () => ({ add: (...args: unknown[]) => void added.push(args) }) }
    const sink = meterEventSink(meter)
    sink({ type: 'kill', sandboxId: 'a', provider: 'p', environment: 'e', at: 1, reason: 'idle' })
    expect(added).toEqual([[1, { event: 'kill', provider: 'p', environment: 'e', reason: 'idle' }]])
  })
})
