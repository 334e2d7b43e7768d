export { toUIMessages, type UIMessagesOptions } from './to-ui-messages.ts'
export type { UIMessageStreamOptions } from './stream-options.ts'
export { toUIMessageStream } from './to-ui-message-stream.ts'
export {
  hasRequestAnswers,
  requestOf,
  toRequestAnswers,
  type UIRequest,
  type UIRequestAnswer,
} from './ui-request.ts'
