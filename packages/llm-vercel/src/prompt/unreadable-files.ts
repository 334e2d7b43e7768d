import {
  type LanguageModelV4,
  type LanguageModelV4FilePart,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type LanguageModelV4TextPart,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider'

/** A kind of file that a model cannot read. */
export interface UnreadableFile {
  /** Provider of the model, as the AI SDK names it. */
  readonly provider: string
  readonly modelId: string
  /** Media type of the files. */
  readonly mediaType: string
  /** Only files that are sent as an address. */
  readonly isAddress: boolean
}

/** A long-lived adapter forgets what it has learned of so many different models. */
const MAX_MODELS = 1000

/** Words by which providers name what they do not take, where they do not name its media type. */
const KINDS: readonly (readonly [word: RegExp, mediaType: RegExp])[] = [
  [/audio/i, /^audio\//i],
  [/video/i, /^video\//i],
  [/pdf/i, /^application\/pdf/i],
  [/image/i, /^image\//i],
  [/text file/i, /^text\//i],
]

/**
 * Files that a model cannot read, as its provider says: they fail the call before it is sent. From
 * then on the model gets a sentence in their place, and can tell its user.
 */
export class UnreadableFiles {
  readonly #report: (file: UnreadableFile) => void
  /** By model, the kinds that it does not read. */
  readonly #kinds = new Map<string, Set<string>>()

  constructor(report: (file: UnreadableFile) => void) {
    this.#report = report
  }

  /** The prompt without what the model cannot read. */
  apply(prompt: LanguageModelV4Prompt, model: LanguageModelV4): LanguageModelV4Prompt {
    const kinds = this.#kinds.get(keyOf(model))
    if (kinds === undefined) return prompt
    return prompt.map((message) => replaceIn(message, (part) => kinds.has(kindOf(part))))
  }

  /**
   * Whether a call failed for files of its prompt that are left out from now on.
   * @param promptOf The prompt of the call. Others may have failed since they have none.
   */
  learn(failure: unknown, promptOf: () => LanguageModelV4Prompt, model: LanguageModelV4): boolean {
    if (!UnsupportedFunctionalityError.isInstance(failure)) return false
    const key = keyOf(model)
    const known = this.#kinds.get(key) ?? new Set<string>()
    const candidates = filesOf(promptOf()).filter((part) => !known.has(kindOf(part)))
    const refused = refusedBy(failure.functionality, candidates)
    if (refused.length === 0) return false
    if (this.#kinds.size >= MAX_MODELS) this.#kinds.clear()
    this.#kinds.set(key, known)
    for (const part of refused) {
      if (known.has(kindOf(part))) continue
      known.add(kindOf(part))
      const { modelId, provider } = model
      this.#report({ provider, modelId, mediaType: part.mediaType, isAddress: isAddress(part) })
    }
    return true
  }
}

function keyOf({ provider, modelId }: LanguageModelV4): string {
  return `${provider} ${modelId}`
}

function kindOf(part: LanguageModelV4FilePart): string {
  return `${part.mediaType}${isAddress(part) ? ' address' : ''}`
}

function isAddress({ data }: LanguageModelV4FilePart): boolean {
  return data.type === 'url'
}

/** What a provider means: the media type it names, else its kind, else any file. */
function refusedBy(
  functionality: string,
  files: readonly LanguageModelV4FilePart[],
): readonly LanguageModelV4FilePart[] {
  const text = functionality.toLowerCase()
  const named = files.filter(({ mediaType }) => text.includes(mediaType.toLowerCase()))
  if (named.length > 0) return named
  const ofKind = KINDS.filter(([word]) => word.test(text)).flatMap(([, pattern]) =>
    files.filter(({ mediaType }) => pattern.test(mediaType)),
  )
  const found = ofKind.length > 0 ? ofKind : /file|media|image/.test(text) ? files : []
  return text.includes('url') ? found.filter(isAddress) : found
}

function filesOf(prompt: LanguageModelV4Prompt): readonly LanguageModelV4FilePart[] {
  const files: LanguageModelV4FilePart[] = []
  for (const message of prompt) {
    replaceIn(message, (part) => {
      files.push(part)
      return false
    })
  }
  return files
}

type IsUnreadable = (part: LanguageModelV4FilePart) => boolean

/** The same message, unless something of it is replaced. */
function replaceIn(message: LanguageModelV4Message, is: IsUnreadable): LanguageModelV4Message {
  if (message.role === 'user') {
    const content = message.content.map((part) => readable(part, is))
    return isSame(content, message.content) ? message : { ...message, content }
  }
  if (message.role !== 'tool') return message
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result' || part.output.type !== 'content') return part
    const value = part.output.value.map((item) => readable(item, is))
    if (isSame(value, part.output.value)) return part
    return { ...part, output: { ...part.output, value } }
  })
  return isSame(content, message.content) ? message : { ...message, content }
}

function readable<T extends { readonly type: string }>(
  part: T | LanguageModelV4FilePart,
  is: IsUnreadable,
): T | LanguageModelV4FilePart | LanguageModelV4TextPart {
  if (!isFile(part) || !is(part)) return part
  const { filename, mediaType, providerOptions } = part
  const name = filename === undefined ? mediaType : `${filename}, ${mediaType}`
  const text = `[A file was left out (${name}): this model cannot read such files.]`
  // A mark for the prompt cache stays where it was.
  return { type: 'text', text, ...(providerOptions !== undefined && { providerOptions }) }
}

function isFile(part: { readonly type: string }): part is LanguageModelV4FilePart {
  return part.type === 'file'
}

function isSame(after: readonly unknown[], before: readonly unknown[]): boolean {
  return after.every((part, index) => part === before[index])
}
