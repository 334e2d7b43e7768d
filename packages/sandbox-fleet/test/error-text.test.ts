import { FleetError } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import { causeText } from '../src/error-text.ts'
import { terminateSandbox } from '../src/sweep/terminate-sandbox.ts'
import { runReconcile } from '../src/reconcile/run-reconcile.ts'
import { finish, given, setup } from './fleet-harness.ts'

const operator = { reason: 'operator', detail: 'by hand', by: 'somebody' } as const

function rejected(): Error {
  const socket = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  return new Error('destroy failed, password=hunter2hunter2', { cause: socket })
}

describe('the cause of an error', () => {
  test('is the chain behind it, the nearest first, without secrets', () => {
    const error = new FleetError('driver-failed', 'no', { cause: rejected() })
    expect(causeText(error)).toBe(
      'Error: destroy failed, password=[redacted] <- Error ECONNREFUSED: connect ECONNREFUSED',
    )
    expect(causeText(new Error('alone'))).toBeUndefined()
    expect(causeText('text')).toBeUndefined()
    expect(causeText(new Error('a', { cause: 'b' }))).toBe('b')
  })

  test('is bounded, also when it goes in a circle', () => {
    let deep = new Error('x'.repeat(5000))
    for (let depth = 0; depth < 100; depth += 1) deep = new Error('y'.repeat(5000), { cause: deep })
    expect(causeText(deep)?.length).toBeLessThanOrEqual(1000)
    const loop: Error & { cause?: unknown } = new Error('loop')
    loop.cause = loop
    expect(causeText(loop)).toBeUndefined()
  })
})

describe('what a provider says', () => {
  test('stands in the record of an owed destroy and in the log', async () => {
    const fleet = setup()
    const { clock, context, driver, logger, store } = fleet
    await given(fleet, 'a')
    driver.onTerminate = () => Promise.reject(rejected())
    await finish(clock, terminateSandbox(context, 'a', operator))
    expect((await store.get('a'))?.lastError).toMatchObject({
      code: 'driver-failed',
      cause: expect.stringContaining('destroy failed, password=[redacted] <- Error ECONNREFUSED'),
    })
    const [line] = logger.with('Sandbox destroy owed')
    expect(line?.fields).toMatchObject({ sandboxId: 'a', code: 'driver-failed' })
    expect(line?.fields).toHaveProperty('err.cause.cause.code', 'ECONNREFUSED')
  })

  test('stands in the report of a listing that failed', async () => {
    const { clock, context, driver, logger } = setup()
    driver.onList = () => {
      throw rejected()
    }
    const report = await finish(clock, runReconcile(context))
    expect(report.rejected[0]?.detail).toContain('ECONNREFUSED')
    expect(logger.with('Sandbox listing rejected')[0]?.fields).toHaveProperty('err')
  })
})
