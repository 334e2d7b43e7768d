export type { RedactOptions } from '../redact/redaction.ts'
export {
  type ConsoleLike,
  type ConsoleLoggerOptions,
  createConsoleLogger,
} from './console-logger.ts'
