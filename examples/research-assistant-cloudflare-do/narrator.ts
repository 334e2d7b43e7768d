import type { SequencedChunk } from '@helix-agents/core/runtime'

/** Tells what an agent does, while it does it. */
export class Narrator {
  readonly #tell: (line: string) => void
  #run = ''
  #text = ''

  constructor(tell: (line: string) => void) {
    this.#tell = tell
  }

  /** What the model has said so far of the sentence it is at. */
  get text(): string {
    return this.#text
  }

  show(chunk: SequencedChunk): void {
    // A sentence that was cut off with its run is said again by the next one.
    if (chunk.agentId !== this.#run) this.#text = ''
    this.#run = chunk.agentId
    if (chunk.type === 'text_delta') this.#text += chunk.delta
    if (chunk.type === 'tool_start') this.#toolStart(chunk)
    if (chunk.type === 'tool_end' && !chunk.success) this.#tell(`  failed: ${chunk.error?.message}`)
    if (chunk.type === 'error') this.#tell(`error  ${chunk.code}: ${chunk.message}`)
    if (chunk.type === 'output') this.#say('')
  }

  /** The sentence is cut off here. */
  cut(): void {
    this.#say('✂')
  }

  #toolStart({ toolName, arguments: input }: SequencedChunk & { type: 'tool_start' }): void {
    if (this.#text !== '') this.#say('')
    const { query, id, path, command } = input as Readonly<Record<string, string | undefined>>
    this.#tell(
      `  ${toolName.replace('workspace__notes__', '')} ${query ?? id ?? path ?? command ?? ''}`,
    )
  }

  #say(end: string): void {
    this.#tell(`agent  ${this.#text}${end}`)
    this.#text = ''
  }
}
