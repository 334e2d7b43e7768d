import { WorkspaceFailedError } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { codeOf, once, settle, setup } from './harness.ts'

const transient = (retryAfterMs?: number) =>
  new WorkspaceFailedError('provider-failed', 'busy', {
    transient: true,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })

describe('failures', () => {
  test('transient ones are retried with growing waits of about 10 s in all', async () => {
    const { registry, provider, events, clock, metrics, stateOf } = setup()
    const at: number[] = []
    provider.onOpen = () => {
      at.push(clock.now())
      if (at.length < 4) throw transient()
    }
    const use = registry.use('box', async () => 'done', once)
    await clock.advance(20_000)
    expect(await use).toBe('done')
    const waits = at.slice(1).map((time, index) => time - at[index]!)
    expect(waits).toEqual([1400, 2800, 5600])
    expect(events).toEqual(['open', 'open', 'open', 'open', 'persist b1'])
    expect(metrics.count('incTransientRetry')).toBe(3)
    expect(stateOf().retries).toBe(3)
  })

  test('a wait is never shorter than the platform asks for', async () => {
    const { registry, provider, clock } = setup()
    let tries = 0
    provider.onOpen = () => {
      if (++tries === 1) throw transient(9000)
    }
    const use = registry.use('box', async () => 'done', once)
    await clock.advance(8999)
    expect(tries).toBe(1)
    await clock.advance(1)
    expect(await use).toBe('done')
  })

  test('an exhausted retry fails the entry, yet the next use tries again', async () => {
    const { registry, provider, events, stateOf } = setup({ deps: { transientRetryAttempts: 0 } })
    provider.onOpen = () => {
      throw transient()
    }
    expect(await codeOf(registry.acquire('box'))).toBe('provider-failed')
    expect(stateOf().state).toBe('failed')
    provider.onOpen = () => {}
    await registry.acquire('box')
    expect(stateOf().state).toBe('open')
    expect(events).toEqual(['open', 'open', 'persist b1'])
  })

  test('permanent ones surface at once and stay until reset', async () => {
    const { registry, provider, events, clock, metrics, logger, stateOf } = setup()
    provider.onOpen = () => {
      throw new WorkspaceFailedError('sharing-not-declared', 'no')
    }
    expect(await codeOf(registry.acquire('box'))).toBe('sharing-not-declared')
    expect(await codeOf(registry.acquire('box'))).toBe('sharing-not-declared')
    await clock.advance(3_600_000)
    expect(await codeOf(registry.acquire('box'))).toBe('sharing-not-declared')
    expect(events).toEqual(['open'])
    expect(metrics.count('incOpenFailure')).toBe(1)
    expect(logger.with('workspace open failed')).toHaveLength(1)
    expect(stateOf()).toMatchObject({ state: 'failed', lastErrorCode: 'sharing-not-declared' })
    provider.onOpen = () => {}
    registry.reset('box')
    expect(stateOf().state).toBe('declared')
    await registry.acquire('box')
    expect(stateOf().state).toBe('open')
    registry.reset('box')
    expect(stateOf().state).toBe('open')
  })

  test('with resetAfterMs the next use after the cooldown tries again', async () => {
    const { registry, provider, clock, events } = setup({ deps: { resetAfterMs: 1000 } })
    provider.onOpen = () => {
      throw new Error('foreign')
    }
    expect(await codeOf(registry.acquire('box'))).toBe('provider-failed')
    await clock.advance(999)
    expect(await codeOf(registry.acquire('box'))).toBe('provider-failed')
    expect(events).toEqual(['open'])
    provider.onOpen = () => {}
    await clock.advance(1)
    await registry.acquire('box')
    expect(events).toEqual(['open', 'open', 'persist b1'])
  })

  test('a foreign error is wrapped, its text is kept from the model', async () => {
    const { registry, provider } = setup()
    const foreign = new Error('connect ECONNREFUSED /var/run/secret.sock')
    provider.onOpen = () => {
      throw foreign
    }
    const error = (await registry.acquire('box').catch((each: unknown) => each)) as Error
    expect(error).toMatchObject({ code: 'provider-failed', transient: false, cause: foreign })
    expect(error.message).not.toContain('secret')
  })

  test('an attempt that overruns is aborted, and a late backend is released', async () => {
    const { registry, provider, clock, events, stateOf } = setup({ deps: { openTimeoutMs: 500 } })
    const held = Promise.withResolvers<void>()
    let seen: AbortSignal | undefined
    provider.onOpen = (signal) => {
      seen = signal
      return held.promise
    }
    const code = codeOf(registry.acquire('box'))
    await clock.advance(500)
    expect(await code).toBe('open-timeout')
    expect(seen?.aborted).toBe(true)
    held.resolve()
    await settle()
    expect(events).toEqual(['open', 'close b1'])
    expect(stateOf().state).toBe('failed')
    provider.onOpen = () => {}
    await registry.acquire('box')
    expect(stateOf().state).toBe('open')
  })

  test('a kind without provider fails at use', async () => {
    const { registry } = setup({ declaration: { provider: { kind: 'unheard-of' } } })
    expect(await codeOf(registry.acquire('box'))).toBe('config-invalid')
  })

  test('the provider gets its own parsed config', async () => {
    const { registry, provider } = setup({ declaration: { provider: { kind: 'fake', size: 3 } } })
    const parsed = { kind: 'fake' }
    let got: unknown
    Object.assign(provider, {
      parseConfig: () => parsed,
      open: async (config: unknown) => {
        got = config
        throw new Error('enough')
      },
    })
    await codeOf(registry.acquire('box'))
    expect(got).toBe(parsed)
  })
})
