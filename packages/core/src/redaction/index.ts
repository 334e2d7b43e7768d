export { redactText } from './redact-text.ts'
export { createRedaction, type Redaction, type RedactOptions } from './redaction.ts'
