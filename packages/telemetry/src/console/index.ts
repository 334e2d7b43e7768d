export type { RedactOptions } from '@helix-agents/core/redact'
export {
  type ConsoleLike,
  type ConsoleLoggerOptions,
  createConsoleLogger,
} from './console-logger.ts'
