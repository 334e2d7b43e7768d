import { FleetError } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { createConsoleLogger, type ConsoleLoggerOptions } from '@helix-agents/telemetry/console'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

function record(options: ConsoleLoggerOptions = {}) {
  const lines: [level: string, line: string][] = []
  const write = (level: string) => (line: string) => void lines.push([level, line])
  const target = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  }
  const clock = new ManualClock(0)
  const logger = createConsoleLogger({ console: target, clock, ...options })
  return { lines, logger, last: () => JSON.parse(lines.at(-1)?.[1] ?? '{}') as unknown }
}

describe('the console logger', () => {
  test('writes one JSON object a line', () => {
    const { last, lines, logger } = record()
    logger.warn({ sandboxId: 'a' }, 'Sandbox destroy owed')
    expect(last()).toEqual({
      level: 'warn',
      time: '1970-01-01T00:00:00.000Z',
      message: 'Sandbox destroy owed',
      sandboxId: 'a',
    })
    expect(lines[0]?.[0]).toBe('warn')
    expect(lines[0]?.[1]).not.toContain('\n')
  })

  test('a field does not replace what the logger writes', () => {
    const { last, logger } = record()
    const fields = { level: 'info', message: 'forged', time: 'never', fields: { a: 1 }, more: 1 }
    logger.error(fields, 'sandbox_leak_detected')
    expect(last()).toEqual({
      level: 'error',
      time: '1970-01-01T00:00:00.000Z',
      message: 'sandbox_leak_detected',
      fields: { level: 'info', message: 'forged', time: 'never', fields: { a: 1 } },
      more: 1,
    })
  })

  test('an error shows its code and its causes, without secrets', () => {
    const { last, logger } = record()
    const cause = new Error('refused: password=hunter2hunter2')
    logger.error({ err: new FleetError('driver-failed', 'no', { cause }), apiKey: 'k' }, 'failed')
    expect(last()).toMatchObject({
      err: {
        code: 'driver-failed',
        message: 'no',
        cause: { message: 'refused: password=[redacted]' },
      },
      apiKey: '[redacted]',
    })
  })

  test('a chain of causes without end is cut', () => {
    const { last, lines, logger } = record()
    const loop: Error & { cause?: unknown } = new Error('loop')
    loop.cause = loop
    logger.error({ err: loop }, 'failed')
    expect(last()).toMatchObject({ err: { cause: '[circular]' } })
    let deep = new Error('0')
    for (let depth = 1; depth < 1000; depth += 1) deep = new Error(`${depth}`, { cause: deep })
    logger.error({ err: deep }, 'failed')
    expect(lines.at(-1)?.[1].length).toBeLessThan(100_000)
  })

  test('drops what is below its level', () => {
    const { lines, logger } = record({ level: 'warn' })
    logger.debug({}, 'a')
    logger.info({}, 'b')
    logger.warn({}, 'c')
    expect(lines.map(([level]) => level)).toEqual(['warn'])
    const silent = record({ level: 'silent' })
    silent.logger.error({}, 'd')
    expect(silent.lines).toEqual([])
  })

  test('whatever the fields are, the text and the level stay, on one line', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (fields) => {
        const { last, lines, logger } = record()
        logger.info(fields, 'Cleanup completed')
        expect(last()).toMatchObject({ level: 'info', message: 'Cleanup completed' })
        expect(lines[0]?.[1]).not.toMatch(/[\n\r]/)
      }),
    )
  })
})
