import type { LanguageModelV4ToolCall, SharedV4ProviderMetadata } from '@ai-sdk/provider'

/** A run of text or of reasoning. */
export interface TextBlock {
  readonly kind: 'text' | 'reasoning'
  text: string
  metadata: SharedV4ProviderMetadata | undefined
}

/** A tool call; `text` is the JSON of its arguments. */
export interface CallBlock {
  readonly kind: 'call'
  readonly id: string
  readonly name: string
  text: string
  /** The provider has said that the call is complete. */
  isComplete: boolean
  metadata: SharedV4ProviderMetadata | undefined
}

export type Block = TextBlock | CallBlock

interface Extension {
  readonly delta: string
  readonly metadata: SharedV4ProviderMetadata | undefined
}

/** The parts of an answer in the order in which they began. */
export class AnswerParts {
  readonly blocks: Block[] = []
  readonly #texts = new Map<string, TextBlock>()
  readonly #calls = new Map<string, CallBlock>()

  /** Adds to a text or to reasoning; the first piece of an id begins it. */
  extend(kind: TextBlock['kind'], id: string, { delta, metadata }: Extension): TextBlock {
    const key = `${kind} ${id}`
    let block = this.#texts.get(key)
    if (block === undefined) {
      block = { kind, text: '', metadata: undefined }
      this.#texts.set(key, block)
      this.blocks.push(block)
    }
    block.text += delta
    // The last word of the provider counts, as in the AI SDK.
    block.metadata = metadata ?? block.metadata
    return block
  }

  startInput(id: string, name: string): CallBlock {
    const block: CallBlock = {
      kind: 'call',
      id,
      name,
      text: '',
      isComplete: false,
      metadata: undefined,
    }
    this.#calls.set(id, block)
    this.blocks.push(block)
    return block
  }

  /** The tool that the input is for; `undefined` for one that is not ours. */
  extendInput(id: string, delta: string): string | undefined {
    const block = this.#calls.get(id)
    if (block === undefined) return undefined
    block.text += delta
    return block.name
  }

  /** The whole call: what was streamed of its input is replaced. */
  call({ toolCallId, toolName, input, providerMetadata }: LanguageModelV4ToolCall): void {
    const known = this.#calls.get(toolCallId)
    const isOpen = known !== undefined && !known.isComplete && known.name === toolName
    const block = isOpen ? known : this.startInput(toolCallId, toolName)
    block.text = input
    block.isComplete = true
    block.metadata = providerMetadata
  }
}
