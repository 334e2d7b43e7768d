import {
  FileSystemError,
  PolicyError,
  ToolInputError,
  WorkspaceEvictedError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { codeOf, idempotent, once, settle, setup } from './harness.ts'

const gone = (admitted: 'no' | 'unknown' = 'unknown') =>
  new WorkspaceEvictedError('backend gone', { admitted })

/** Fails so often, then works. */
function failing(times: number, error: () => unknown = gone) {
  let left = times
  const ran: string[] = []
  const operation = async ({ live }: { live: { id: string } }) => {
    ran.push(live.id)
    if (left-- > 0) throw error()
    return `ran in ${live.id}`
  }
  return { ran, operation }
}

describe('an eviction', () => {
  test('resolves again and repeats an idempotent operation once', async () => {
    const { registry, events, metrics, logger, stateOf } = setup()
    const { ran, operation } = failing(1)
    expect(await registry.use('box', operation, idempotent)).toBe('ran in b1')
    expect(ran).toHaveLength(2)
    expect(events).toEqual(['open', 'persist b1', 'resolve b1'])
    expect([metrics.count('incEviction'), metrics.count('incEvictionRetry')]).toEqual([1, 1])
    expect(stateOf()).toMatchObject({ state: 'open', evictions: 1 })
    expect(logger.with('workspace tool: eviction retry exhausted')).toEqual([])
  })

  test('repeats any operation that was certainly not admitted', async () => {
    const { registry } = setup()
    const { operation } = failing(1, () => gone('no'))
    expect(await registry.use('box', operation, once)).toBe('ran in b1')
  })

  test('never repeats one that may have run; the next call finds the workspace again', async () => {
    const { registry, events, metrics } = setup()
    const { ran, operation } = failing(1)
    const error = (await registry.use('box', operation, once).catch((each: unknown) => each)) as {
      hint?: string
    }
    expect(error).toMatchObject({ name: 'WorkspaceEvictedError', code: 'outcome-unknown' })
    expect(error.hint).toBeTypeOf('string')
    expect(ran).toHaveLength(1)
    expect(metrics.count('incEvictionRetry')).toBe(0)
    expect(await registry.use('box', operation, once)).toBe('ran in b1')
    expect(events).toEqual(['open', 'persist b1', 'resolve b1'])
  })

  test('repeats no operation that is not declared idempotent', async () => {
    const { registry } = setup()
    const { ran, operation } = failing(1)
    expect(await codeOf(registry.use('box', operation))).toBe('outcome-unknown')
    expect(ran).toHaveLength(1)
  })

  test('is resolved once for all that run into it', async () => {
    const { registry, events, metrics } = setup()
    await registry.acquire('box')
    const all = Array.from({ length: 20 }, () =>
      registry.use('box', failing(1).operation, idempotent),
    )
    expect(await Promise.all(all)).toEqual(all.map(() => 'ran in b1'))
    expect(events.filter((event) => event.startsWith('resolve'))).toHaveLength(1)
    expect([metrics.count('incEviction'), metrics.count('incEvictionRetry')]).toEqual([1, 20])
  })

  test('a late error of an earlier open does not evict the present one', async () => {
    const { registry, events, metrics } = setup()
    const late = Promise.withResolvers<void>()
    let tries = 0
    const slow = registry.use(
      'box',
      async () => {
        if (++tries > 1) return 'repeated'
        await late.promise
        throw gone()
      },
      idempotent,
    )
    await settle()
    await registry.use('box', failing(1).operation, idempotent)
    late.resolve()
    expect(await slow).toBe('repeated')
    expect(metrics.count('incEviction')).toBe(1)
    expect(events).toEqual(['open', 'persist b1', 'resolve b1'])
  })

  test('of a backend gone for good opens a fresh one', async () => {
    const { registry, provider, events } = setup()
    await registry.acquire('box')
    provider.stored.clear()
    const { operation } = failing(1)
    expect(await registry.use('box', operation, idempotent)).toBe('ran in b2')
    expect(events).toEqual(['open', 'persist b1', 'resolve b1', 'open', 'persist b2'])
    expect(registry.takeNotice('box')).toBeTypeOf('string')
  })
})

describe('an exhausted retry', () => {
  const text = 'workspace tool: eviction retry exhausted'

  test('says so when the backend goes away again', async () => {
    const { registry, logger, metrics, stateOf } = setup()
    const { ran, operation } = failing(2)
    expect(await codeOf(registry.use('box', operation, idempotent))).toBe('evicted')
    expect(ran).toHaveLength(2)
    expect(logger.with(text)).toMatchObject([{ level: 'error' }])
    expect(metrics.count('incEviction')).toBe(2)
    expect(stateOf().state).toBe('evicted')
  })

  test('tells an unknown outcome when the repeated run may have happened', async () => {
    const { registry } = setup()
    let tries = 0
    const operation = async () => {
      throw gone(++tries === 1 ? 'no' : 'unknown')
    }
    expect(await codeOf(registry.use('box', operation, once))).toBe('outcome-unknown')
  })

  test('is logged once for all that waited for the failing resolve', async () => {
    const { registry, provider, logger } = setup()
    await registry.acquire('box')
    provider.onResolve = () => {
      throw new WorkspaceFailedError('provider-failed', 'no')
    }
    const all = Array.from({ length: 5 }, () =>
      codeOf(registry.use('box', failing(1).operation, idempotent)),
    )
    expect(await Promise.all(all)).toEqual(all.map(() => 'provider-failed'))
    expect(logger.with(text)).toHaveLength(1)
  })

  test('is not what an abort or an answer of the operation is', async () => {
    const { registry, provider, logger } = setup()
    await registry.acquire('box')
    const abort = new AbortController()
    const held = Promise.withResolvers<void>()
    provider.onResolve = () => held.promise
    const options = { idempotent: true, signal: abort.signal }
    const aborted = registry.use('box', failing(1).operation, options)
    let tries = 0
    const answered = registry.use(
      'box',
      async () => {
        throw ++tries === 1 ? gone() : new FileSystemError('not-found', '/a')
      },
      idempotent,
    )
    await settle()
    abort.abort('enough')
    await expect(aborted).rejects.toBe('enough')
    held.resolve()
    expect(await codeOf(answered)).toBe('not-found')
    expect(logger.with(text)).toEqual([])
  })
})

test('an eviction of one workspace passes through an operation on another', async () => {
  const { registry, metrics, stateOf } = setup({ names: ['outer', 'inner'] })
  const copy = () => registry.use('inner', failing(9).operation, once)
  expect(await codeOf(registry.use('outer', copy, idempotent))).toBe('outcome-unknown')
  expect(stateOf('outer')).toMatchObject({ state: 'open', evictions: 0 })
  expect(stateOf('inner').state).toBe('evicted')
  expect(metrics.count('incEviction')).toBe(1)
})

test('errors of an operation reach its caller unchanged', async () => {
  const { registry, stateOf, clock } = setup()
  const error = new FileSystemError('storage-full', '/a')
  await registry.acquire('box')
  await clock.advance(50)
  await expect(registry.use('box', () => Promise.reject(error), once)).rejects.toBe(error)
  const { lastOpAt, lastSuccessAt, state } = stateOf()
  expect(state).toBe('open')
  expect(lastOpAt! - lastSuccessAt!).toBe(50)
})

test.each([
  ['the file system says so', new FileSystemError('not-found', '/a'), 50],
  ['the policy refuses it', new PolicyError('command-not-allowed', 'no'), 0],
  ['its arguments are wrong', new ToolInputError('invalid-input', 'no'), 0],
])('a mistake of the model is no failure of the workspace: %s', async (_, error, answeredMs) => {
  const { registry, stateOf, clock } = setup()
  await registry.acquire('box')
  const opened = stateOf()
  await clock.advance(50)
  await expect(registry.use('box', () => Promise.reject(error), once)).rejects.toBe(error)
  const { lastAttemptAt, lastSuccessAt, unsuccessfulSince } = stateOf()
  expect(unsuccessfulSince).toBeUndefined()
  expect(lastAttemptAt! - opened.lastAttemptAt!).toBe(answeredMs)
  expect(lastSuccessAt! - opened.lastSuccessAt!).toBe(answeredMs)
})
