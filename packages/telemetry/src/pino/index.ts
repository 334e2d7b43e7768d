export type { RedactOptions } from '@helix-agents/core/runtime'
export { createPinoLogger, type PinoLoggerOptions } from './pino-logger.ts'
