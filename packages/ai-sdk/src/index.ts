export { toUIMessages } from './to-ui-messages.ts'
export { toUIMessageStream, type UIMessageStreamOptions } from './to-ui-message-stream.ts'
