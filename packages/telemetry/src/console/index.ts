export type { RedactOptions } from '@helix-agents/core/runtime'
export {
  type ConsoleLike,
  type ConsoleLoggerOptions,
  createConsoleLogger,
} from './console-logger.ts'
