import { createOpenLimit } from '@helix-agents/core/provider'
import { describe, expect, test, vi } from 'vitest'

function gate() {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  return { promise, open: resolve, fail: reject }
}
const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

describe('createOpenLimit', () => {
  test('runs at most max at once and starts the others in order', async () => {
    const limit = createOpenLimit(2)
    const gates = Array.from({ length: 6 }, gate)
    const started: number[] = []
    const all = gates.map((each, index) =>
      limit(async () => {
        started.push(index)
        await each.promise
        return index
      }),
    )
    await settle()
    expect(started).toEqual([0, 1])
    gates[1]!.open()
    await settle()
    expect(started).toEqual([0, 1, 2])
    for (const each of gates) each.open()
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5])
    expect(started).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('a failure frees its slot and reaches only its caller', async () => {
    const limit = createOpenLimit(1)
    const first = limit(() => Promise.reject(new Error('first')))
    const second = limit(async () => 'second')
    await expect(first).rejects.toThrow('first')
    expect(await second).toBe('second')
  })

  test('a waiting call leaves the queue when it is aborted, others keep their place', async () => {
    const limit = createOpenLimit(1)
    const held = gate()
    const ran: string[] = []
    const first = limit(() => held.promise)
    const abort = new AbortController()
    const second = limit(async () => void ran.push('second'), abort.signal)
    const third = limit(async () => void ran.push('third'))
    const reason = new Error('enough')
    abort.abort(reason)
    await expect(second).rejects.toBe(reason)
    held.open()
    await Promise.all([first, third])
    expect(ran).toEqual(['third'])
    expect(await limit(async () => 'free again')).toBe('free again')
  })

  test('a call that had to wait leaves nothing at its signal', async () => {
    const limit = createOpenLimit(1)
    const held = gate()
    const first = limit(() => held.promise)
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const second = limit(async () => 'second', signal)
    held.open()
    expect(await second).toBe('second')
    await first
    expect(added).toHaveBeenCalledOnce()
    expect(removed.mock.calls).toEqual([['abort', added.mock.calls[0]?.[1]]])
  })

  test('an abort between getting the slot and running passes the slot on', async () => {
    const limit = createOpenLimit(1)
    const held = gate()
    const first = limit(() => held.promise)
    const abort = new AbortController()
    let ran = false
    const second = limit(async () => void (ran = true), abort.signal)
    const third = limit(async () => 'third')
    held.open()
    void held.promise.then(() => Promise.resolve()).then(() => abort.abort())
    await Promise.allSettled([first, second])
    expect(await third).toBe('third')
    expect(typeof ran).toBe('boolean')
  })

  test.each([undefined, Number.POSITIVE_INFINITY, 3])(
    'an aborted signal runs nothing with max %s',
    async (max) => {
      let ran = false
      const run = createOpenLimit(max)(async () => void (ran = true), AbortSignal.abort('gone'))
      await expect(run).rejects.toBe('gone')
      expect(ran).toBe(false)
    },
  )

  test('without a bound all run at once', async () => {
    const limit = createOpenLimit(undefined)
    const held = gate()
    let started = 0
    const all = Array.from({ length: 100 }, () =>
      limit(async () => {
        started++
        await held.promise
      }),
    )
    expect(started).toBe(100)
    held.open()
    await Promise.all(all)
  })

  test.each([0, -1, 1.5, Number.NaN])('refuses %s', (max) => {
    expect(() => createOpenLimit(max)).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })
})
