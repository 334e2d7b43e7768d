export { toUIMessages } from './to-ui-messages.ts'
export type { UIMessageStreamOptions } from './message-parts.ts'
export { toUIMessageStream } from './to-ui-message-stream.ts'
