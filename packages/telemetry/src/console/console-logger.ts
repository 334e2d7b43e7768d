import { type Clock, type Logger, systemClock } from '@helix-agents/core'
import { createRedaction, type RedactOptions, redactText } from '@helix-agents/core/runtime'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof LEVELS)[number]

/** What the logger itself writes; a field of such a name is nested under `fields`. */
const RESERVED: readonly string[] = ['level', 'time', 'message', 'fields']

/** Where lines go: the global `console` fits. */
export type ConsoleLike = Readonly<Record<Level, (line: string) => void>>

/** Options of `createConsoleLogger`. */
export interface ConsoleLoggerOptions extends RedactOptions {
  /** Lines below this level are dropped. Default `info`. */
  readonly level?: Level | 'silent'
  /** Default: the global `console`, which Workers Logs index. */
  readonly console?: ConsoleLike
  /** The time of the lines. Default: that of the machine. */
  readonly clock?: Clock
}

/**
 * Creates a logger for Workers and other platforms without streams. It writes one JSON object a
 * line with `level`, `time` (ISO 8601, UTC), `message`, and the fields, and fits the option
 * `logger` as it is. No field replaces these: a field `message` is written as `fields.message`.
 * Secrets are redacted; errors are written with code, brand, fields and causes, to a bounded depth.
 */
export function createConsoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const { clock = systemClock, console: target = console, level: min = 'info' } = options
  const redaction = createRedaction(options)
  const writerOf = (level: Level): Logger[Level] => {
    const isWritten = min !== 'silent' && LEVELS.indexOf(level) >= LEVELS.indexOf(min)
    if (!isWritten) return () => undefined
    return (fields, message) => {
      const head = {
        level,
        time: new Date(clock.now()).toISOString(),
        message: redactText(message),
      }
      target[level](JSON.stringify({ ...head, ...apart(redaction.fields(fields)) }))
    }
  }
  return {
    debug: writerOf('debug'),
    info: writerOf('info'),
    warn: writerOf('warn'),
    error: writerOf('error'),
  }
}

/** The fields of a line, those with a reserved name nested. */
function apart(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const nested: Record<string, unknown> = {}
  const free: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    Object.defineProperty(RESERVED.includes(name) ? nested : free, name, {
      value,
      enumerable: true,
    })
  }
  return Object.keys(nested).length === 0 ? free : { ...free, fields: nested }
}
