export { createRedaction, type Redaction, type RedactOptions } from './redaction.ts'
export { redactText } from './redact-text.ts'
