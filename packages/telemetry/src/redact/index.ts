export {
  createRedaction,
  type Redaction,
  type RedactOptions,
  redactText,
} from '@helix-agents/core/runtime'
