export type { RedactOptions } from '@helix-agents/core/redact'
export { createPinoLogger, type PinoLoggerOptions } from './pino-logger.ts'
