import { systemClock } from '@helix-agents/core'
import { ManualClock, RecordingLogger } from '@helix-agents/core/testing'
import { expect, test } from 'vitest'
import { parseOptions, parseRetries } from '../src/adapter-options.ts'
import { WarningLog } from '../src/warning-log.ts'

test('options have defaults', () => {
  const settings = parseOptions({})
  expect(settings).toMatchObject({
    maxRetries: 3,
    maxRetryDelayMs: 60_000,
    idleTimeoutMs: 300_000,
    attemptTimeoutMs: Number.POSITIVE_INFINITY,
    promptCache: true,
    clock: systemClock,
    random: Math.random,
  })
  expect(settings.onProviderError(new Error('x'))).toBeUndefined()
  const file = { provider: 'p', modelId: 'm', mediaType: 'image/png', isAddress: false }
  expect(settings.onUnreadableFile(file)).toBeUndefined()
})

test('options that are given are kept', () => {
  const options = {
    maxRetries: 0,
    maxRetryDelayMs: 1,
    idleTimeoutMs: 2,
    attemptTimeoutMs: 3,
    promptCache: false,
    logger: new RecordingLogger(),
    onProviderError: () => {},
    onUnreadableFile: () => {},
    clock: new ManualClock(),
    random: () => 0.5,
  }
  expect(parseOptions(options)).toEqual(options)
})

test.each(['maxRetryDelayMs', 'idleTimeoutMs', 'attemptTimeoutMs'])(
  '%s is a positive time',
  (name) => {
    for (const ms of [0, -1, Number.NaN]) {
      expect(() => parseOptions({ [name]: ms })).toThrow(
        new RangeError(`${name} must be a positive number of milliseconds, not ${ms}`),
      )
    }
    expect(parseOptions({ [name]: 0.5 })).toHaveProperty(name, 0.5)
  },
)

test('retries are a count', () => {
  expect([0, 1, 99].map(parseRetries)).toEqual([0, 1, 99])
  for (const count of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    expect(() => parseRetries(count)).toThrow(RangeError)
  }
})

test('a warning is logged once for each model and feature, without its words', () => {
  const logger = new RecordingLogger()
  const log = new WarningLog(logger)
  const seed = { type: 'unsupported', feature: 'seed', details: 'private' } as const
  const other = { type: 'other', message: 'private' } as const
  log.log([seed, other, seed], 'a')
  log.log([seed, { ...seed, feature: 'topK' }], 'a')
  log.log([seed], 'b')
  expect(logger.lines.map(({ fields, level, message }) => [level, message, fields])).toEqual(
    [
      { model: 'a', type: 'unsupported', feature: 'seed' },
      { model: 'a', type: 'other', feature: undefined },
      { model: 'a', type: 'unsupported', feature: 'topK' },
      { model: 'b', type: 'unsupported', feature: 'seed' },
    ].map((fields) => ['warn', 'the model ignores a setting', fields]),
  )
})

test('after a thousand kinds of warnings it may be logged again', () => {
  const logger = new RecordingLogger()
  const log = new WarningLog(logger)
  const warn = (feature: number): void =>
    log.log([{ type: 'unsupported', feature: String(feature) }], 'm')
  for (let feature = 0; feature < 1000; feature += 1) warn(feature)
  warn(0)
  expect(logger.lines).toHaveLength(1000)
  warn(1000)
  warn(0)
  warn(0)
  expect(logger.lines).toHaveLength(1002)
})
