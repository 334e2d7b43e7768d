import { PolicyError } from '@helix-agents/core'
import { type Span, type SpanOptions, traced, type Tracer } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'

/** A tracer that writes down what it is told, in order. */
function recordTracer() {
  const log: unknown[][] = []
  const note =
    (what: string) =>
    (...args: unknown[]): void =>
      void log.push([what, ...args])
  const span: Span = {
    setAttribute: note('attribute'),
    setAttributes: note('attributes'),
    setStatus: note('status'),
    recordException: note('exception'),
    end: note('end'),
  }
  const tracer: Tracer = {
    startActiveSpan: (name: string, options: SpanOptions, work) => {
      log.push(['start', name, options])
      return work(span)
    },
  }
  return { tracer, log }
}

const start = { name: 'work', attributes: { a: 1 } }
const clientCall = () => ({ ...start, kind: 'client' }) as const
const refuse = () => {
  throw new Error('not asked for')
}

describe('work inside a span', () => {
  test('gets it, and its result comes back', async () => {
    const { tracer, log } = recordTracer()
    const result = await traced(tracer, clientCall, async (span) => {
      span?.setAttribute('b', 2)
      return 'done'
    })
    expect(result).toBe('done')
    expect(log).toEqual([
      ['start', 'work', { kind: 2, attributes: { a: 1 } }],
      ['attribute', 'b', 2],
      ['end'],
    ])
  })

  test.each([
    ['of the framework', new PolicyError('expansion', 'SECRET'), 'PolicyError', 'expansion'],
    ['of anybody', new RangeError('SECRET'), 'RangeError', 'internal'],
    ['of the platform', new DOMException('SECRET', 'AbortError'), 'DOMException', 'aborted'],
    ['of a clock', new DOMException('SECRET', 'TimeoutError'), 'DOMException', 'timeout'],
    ['that is none', 'SECRET', 'string', 'internal'],
  ])('ends it with an error %s, by class and code', async (_, error, name, code) => {
    const { tracer, log } = recordTracer()
    const work = traced(
      tracer,
      () => start,
      () => Promise.reject(error),
    )
    await expect(work).rejects.toBe(error)
    expect(log.slice(1)).toEqual([
      ['attribute', 'error.type', code],
      ['exception', { name, code }],
      ['status', { code: 2 }],
      ['end'],
    ])
  })

  test('that was stopped did not fail', async () => {
    const { tracer, log } = recordTracer()
    const stop = new AbortController()
    const describeSpan = () => ({ ...start, signal: stop.signal })
    const work = traced(tracer, describeSpan, async () => {
      stop.abort()
      stop.signal.throwIfAborted()
    })
    await expect(work).rejects.toBe(stop.signal.reason)
    expect(log.slice(1)).toEqual([['attribute', 'helix.aborted', true], ['end']])
  })
})

test('without a tracer nothing is described', async () => {
  expect(await traced(undefined, refuse, async (span) => span)).toBeUndefined()
})
