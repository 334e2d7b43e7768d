import type { ToolResultMessage } from '@helix-agents/core'
import type { Admission } from './admit-call.ts'
import { argumentsText } from './ask.ts'

/** Characters of the edited input that the model reads. */
const MAX_SHOWN = 4_000

/** Tells the model that its call ran with other arguments, and with which. */
export function withEdit(message: ToolResultMessage, admission: Admission): ToolResultMessage {
  if (admission.type !== 'start' || !admission.isEdited) return message
  const text = argumentsText(admission.arguments)
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
  const notice = `[The user edited the input of this call before it ran. It ran with: ${shown}]`
  const { content } = message
  if (typeof content === 'string') return { ...message, content: `${notice}\n${content}` }
  return { ...message, content: [{ type: 'text', text: notice }, ...content] }
}
