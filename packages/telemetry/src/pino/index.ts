export type { RedactOptions } from '../redact/redaction.ts'
export { createPinoLogger, type PinoLoggerOptions } from './pino-logger.ts'
