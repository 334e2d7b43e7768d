import {
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
  type LoggerOptions,
  pino,
} from 'pino'
import {
  createRedaction,
  type Redaction,
  type RedactOptions,
  redactText,
} from '@helix-agents/core/runtime'

/** Options of `createPinoLogger`. */
export interface PinoLoggerOptions extends RedactOptions {
  /** Default `info`. */
  readonly level?: string
  /** Destination of the lines. Default: standard output. */
  readonly destination?: DestinationStream
  /** More for pino, such as `transport` or `base`; redaction takes `log` and `bindings` of `formatters`. */
  readonly pino?: LoggerOptions
}

/**
 * A pino logger without secrets in its lines, which fits the option `logger` as it is. Errors in
 * any field, such as `err` and `error`, are written with code, brand, fields and causes.
 */
export function createPinoLogger(options: PinoLoggerOptions = {}): Logger {
  const { level = 'info', destination, pino: more = {} } = options
  const redaction = createRedaction(options)
  const settings = { level, ...more, ...redactLines(redaction, more) }
  const logger = destination === undefined ? pino(settings) : pino(settings, destination)
  redactChildren(logger, redaction)
  return logger
}

function redactLines({ fields }: Redaction, { formatters, serializers }: LoggerOptions) {
  return {
    formatters: { ...formatters, log: fields, bindings: fields },
    // By the time a serializer runs the formatters have done the work; pino's own for `err` would
    // take the copy for an error again.
    serializers: { ...serializers, err: asItIs, msg: redactMessage },
  }
}

/** Pino gives the bindings of a child to no formatter. Children inherit this `child` in turn. */
function redactChildren(logger: Logger, redaction: Redaction): void {
  // oxlint-disable-next-line typescript/unbound-method -- called on the logger at hand
  const { child } = logger
  Object.assign(logger, {
    child(this: Logger, bindings: object, options?: ChildLoggerOptions): unknown {
      return Reflect.apply(child, this, [redaction.fields(bindings), options])
    },
  })
}

function asItIs(value: unknown): unknown {
  return value
}

function redactMessage(message: unknown): unknown {
  return typeof message === 'string' ? redactText(message) : message
}
