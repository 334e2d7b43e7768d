import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider'
import { type FilePart, ModelError } from '@helix-agents/core'
import { encodeBase64 } from '@helix-agents/core/provider'

const TEXT_TYPE = /^(text\/|application\/(json|xml|yaml|x-ndjson)\b)/
const ADDRESS = /^https?:\/\//i
const DATA_ADDRESS = /^data:[^,]*;base64,/

/**
 * A file of a user message. Text files become text, which every model reads; the bytes of others
 * become base64 here, once, since providers need them so in every call.
 */
export function toFilePart(file: FilePart): LanguageModelV4FilePart | LanguageModelV4TextPart {
  const { data, mediaType, filename } = file
  const name = filename === undefined ? {} : { filename }
  if (typeof data === 'string' && ADDRESS.test(data)) {
    return { type: 'file', data: { type: 'url', url: toUrl(data) }, mediaType, ...name }
  }
  if (typeof data !== 'string' && isTextFile(file)) return toTextPart(data, file)
  const encoded = typeof data === 'string' ? data.replace(DATA_ADDRESS, '') : encodeBase64(data)
  return { type: 'file', data: { type: 'data', data: encoded }, mediaType, ...name }
}

/** Whether every model can read it as text, and many providers take it in no other way. */
export function isTextFile({ mediaType }: { readonly mediaType: string }): boolean {
  return TEXT_TYPE.test(mediaType)
}

/** @throws {ModelError} `invalid-request` */
function toUrl(address: string): URL {
  const url = URL.parse(address)
  if (url !== null) return url
  throw new ModelError('invalid-request', { detail: 'a file has an address that is none' })
}

function toTextPart(data: Uint8Array, { filename, mediaType }: FilePart): LanguageModelV4TextPart {
  const text = new TextDecoder().decode(data)
  return { type: 'text', text: `[file ${filename ?? mediaType}]\n${text}` }
}
