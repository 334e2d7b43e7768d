import type {
  LanguageModelV4FilePart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { ModelOutputPart, ToolResultMessage } from '@helix-agents/core'
import { encodeBase64 } from '@helix-agents/core/provider'
import { isTextFile } from './file-parts.ts'
import type { ModelFamily } from './model-family.ts'
import { sentCallId, sentToolName } from './sent-names.ts'

/** A tool result, and the files that must follow it outside. */
export interface ConvertedResult {
  readonly part: LanguageModelV4ToolResultPart
  readonly files: readonly LanguageModelV4FilePart[]
}

export function toResultPart(message: ToolResultMessage, family: ModelFamily): ConvertedResult {
  const { content } = message
  const base = {
    type: 'tool-result',
    toolCallId: sentCallId(message.toolCallId, family),
    toolName: sentToolName(message.toolName),
  } as const
  if (typeof content === 'string') {
    return { part: { ...base, output: toTextOutput(content, message) }, files: [] }
  }
  if (message.isError !== true && family.takesFilesInResults) {
    return {
      part: { ...base, output: { type: 'content', value: content.map(toContent) } },
      files: [],
    }
  }
  const media = content.filter((part) => part.type === 'media')
  const files = media.filter((part) => !isTextFile(part)).map(toFile)
  const text = content.map(textOf).join('\n')
  return { part: { ...base, output: toTextOutput(text, message) }, files }
}

function toTextOutput(value: string, message: ToolResultMessage): LanguageModelV4ToolResultOutput {
  return { type: message.isError === true ? 'error-text' : 'text', value }
}

type Content = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number]

function toContent(part: ModelOutputPart): Content {
  if (part.type === 'text') return { type: 'text', text: part.text }
  return isTextFile(part) ? { type: 'text', text: decode(part) } : toFile(part)
}

type Media = Extract<ModelOutputPart, { type: 'media' }>

function toFile(part: Media): LanguageModelV4FilePart {
  const data = { type: 'data', data: encodeBase64(part.data) } as const
  return { type: 'file', data, mediaType: part.mediaType }
}

function textOf(part: ModelOutputPart): string {
  if (part.type === 'text') return part.text
  return isTextFile(part) ? decode(part) : `[${part.mediaType}: in the next message]`
}

function decode({ data }: Media): string {
  return new TextDecoder().decode(data)
}
