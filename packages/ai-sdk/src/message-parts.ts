import { type SequencedChunk, type StreamChunk, toChunkJson } from '@helix-agents/core/runtime'
import { isToolUIPart, type UIMessageChunk } from 'ai'
import { partIdOf, RequestParts } from './request-parts.ts'
import type { UIMessageStreamOptions } from './stream-options.ts'

type ChunkOf<T extends StreamChunk['type']> = Extract<StreamChunk, { readonly type: T }>

/** Those with values of tools: a chat gets them as JSON, whatever a tool has returned. */
const WITH_VALUES: ReadonlySet<StreamChunk['type']> = new Set<StreamChunk['type']>([
  'tool_start',
  'tool_end',
  'approval_request',
  'state_patch',
  'custom',
  'output',
])

/** Says each kind of chunk in the words of the AI SDK. */
type Sayings = { readonly [T in StreamChunk['type']]: (chunk: ChunkOf<T>) => void }

/** Builds one assistant message from the chunks of a run, in their order. */
export class MessageParts {
  readonly #options: UIMessageStreamOptions
  readonly #errorText: NonNullable<UIMessageStreamOptions['errorText']>
  #said: UIMessageChunk[] = []
  #isStarted = false
  /** The run whose words these are; of sub-agents only the call is shown. */
  #run: { agentId: string; readonly agentType: string } | undefined
  readonly #subAgents = new Set<string>()
  #parts = 0
  /** The text or thought under way. */
  #open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined
  #isInStep = false
  /** A tool of the step was called: what the model has said in it is stored. */
  #isCalling = false
  /** A tool of the step has answered: what the model says next is of the next step. */
  #isAnswered = false
  /** Calls that the chat knows of. */
  readonly #calls = new Set<string>()
  /** Those whose arguments the model writes. */
  readonly #writing = new Set<string>()
  /** Now, and before the step. */
  #hasText = false
  #hadText = false
  #isOver = false
  readonly #requests: RequestParts
  /** Chunks before the first one of this run are in the message. */
  #firstRun: string | undefined

  constructor(options: UIMessageStreamOptions) {
    this.#options = options
    this.#errorText = options.errorText ?? (({ message }) => message)
    this.#requests = new RequestParts(options.continues?.message)
    if (options.continues !== undefined) this.#continue(options.continues)
  }

  /** What a chunk of the run adds to the message; often nothing. */
  take(chunk: SequencedChunk): readonly UIMessageChunk[] {
    if (chunk.type === 'stream_resync' || chunk.agentId === this.#firstRun) {
      this.#firstRun = undefined
    }
    if (this.#firstRun !== undefined) return []
    if (chunk.type !== 'stream_resync' && !this.#isOurs(chunk)) {
      this.#sayOfSubAgent(chunk)
      return this.#flush()
    }
    this.#say(WITH_VALUES.has(chunk.type) ? asJson(chunk) : chunk)
    return this.#flush()
  }

  /** The end of the message. */
  end(): readonly UIMessageChunk[] {
    this.#start(this.#options.messageId)
    this.#endStep()
    const isWaiting = !this.#isOver && this.#requests.isWaiting
    if (!this.#isOver && !isWaiting) this.#said.push({ type: 'abort' })
    this.#said.push({ type: 'finish', ...(isWaiting && { finishReason: 'tool-calls' }) })
    return this.#flush()
  }

  /** The step that waits is not begun anew. */
  #continue({ message: { parts }, runId }: NonNullable<UIMessageStreamOptions['continues']>): void {
    this.#firstRun = runId
    this.#isInStep = true
    this.#isCalling = true
    this.#hasText = parts.some(({ type }) => type === 'text')
    this.#hadText = this.#hasText
    for (const part of parts) if (isToolUIPart(part)) this.#calls.add(part.toolCallId)
  }

  #flush(): readonly UIMessageChunk[] {
    const said = this.#said
    this.#said = []
    return said
  }

  /**
   * A run that was resumed has another id; while sub-agents run, it is one of them that speaks. A
   * model that was cut off is asked anew.
   */
  #isOurs(chunk: SequencedChunk): boolean {
    const { agentId, agentType } = chunk
    const { messageId, continues } = this.#options
    // The chat has an id for what is continued.
    this.#start(messageId ?? (continues === undefined ? agentId : undefined))
    this.#run ??= { agentId, agentType }
    if (agentId === this.#run.agentId) return true
    if (agentType !== this.#run.agentType) return false
    if (this.#subAgents.size > 0 && !this.#isToldAgain(chunk)) return false
    this.#run.agentId = agentId
    this.#discardStep()
    return true
  }

  /** A run that was resumed in the middle of a sub-agent begins with that. */
  #isToldAgain(chunk: SequencedChunk): boolean {
    return chunk.type === 'subagent_start' && this.#subAgents.has(chunk.subSessionId)
  }

  #start(messageId: string | undefined): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#said.push(messageId === undefined ? { type: 'start' } : { type: 'start', messageId })
  }

  #say<T extends StreamChunk['type']>(chunk: ChunkOf<T>): void {
    const say = this.#sayings[chunk.type] as (chunk: ChunkOf<T>) => void
    say(chunk)
  }

  readonly #sayings: Sayings = {
    text_delta: ({ delta }) => this.#piece('text', delta),
    thinking: ({ content, isComplete }) => this.#think(content, isComplete),
    tool_input_delta: ({ toolCallId, toolName, delta }) => {
      if (!this.#calls.has(toolCallId)) {
        this.#modelSpeaks()
        this.#close()
        this.#calls.add(toolCallId)
        this.#writing.add(toolCallId)
        this.#said.push({ type: 'tool-input-start', toolCallId, toolName, dynamic: true })
      }
      this.#said.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta })
    },
    model_retry: ({ discardsOutput }) => {
      if (discardsOutput) this.#discardStep()
    },
    tool_start: (chunk) => {
      const { toolCallId, toolName, arguments: input } = chunk
      this.#beginCall(toolCallId)
      const said = this.#requests.start(chunk) ?? [
        { type: 'tool-input-available', toolCallId, toolName, input, dynamic: true },
      ]
      this.#said.push(...said)
    },
    tool_progress: ({ toolCallId, output, text }) =>
      this.#emit('tool-progress', { toolCallId, output, text }),
    tool_end: (chunk) => this.#answer(chunk),
    approval_request: (chunk) => {
      this.#beginCall(partIdOf(chunk))
      this.#said.push(...this.#requests.ask(chunk))
    },
    approval_resolved: (chunk) => void this.#said.push(...this.#requests.resolve(chunk)),
    message_queued: ({ messageId, delivery }) =>
      this.#emit('message-queued', { messageId, delivery }),
    subagent_start: ({ toolCallId, subAgentType, subSessionId }) => {
      this.#subAgents.add(subSessionId)
      this.#emit('subagent', { toolCallId, subAgentType, subSessionId, state: 'running' })
    },
    subagent_end: ({ toolCallId, subAgentType, subSessionId, success }) => {
      this.#subAgents.delete(subSessionId)
      const state = success ? 'done' : 'failed'
      this.#emit('subagent', { toolCallId, subAgentType, subSessionId, state })
    },
    state_patch: ({ patches }) => this.#emit('state-patch', { patches }),
    custom: ({ eventName, data }) => this.#emit('custom', { eventName, data }),
    error: (error) => {
      this.#endStep()
      this.#isOver = true
      this.#said.push({ type: 'error', errorText: this.#errorText(error) })
    },
    output: ({ output }) => {
      this.#isOver = true
      // A text was said already, unless a tool has given it, or a run before this one.
      if (typeof output === 'string' && !this.#hasText) this.#piece('text', output)
      this.#endStep()
      if (typeof output !== 'string') this.#said.push({ type: 'data-output', data: output ?? null })
    },
    stream_resync: ({ reason }) => {
      this.#start(this.#options.messageId)
      this.#endStep()
      this.#run = undefined
      this.#calls.clear()
      this.#subAgents.clear()
      this.#emit('resync', { reason })
    },
  }

  #think(content: string, isComplete: boolean): void {
    // The complete one repeats its pieces, where there were any.
    if (!isComplete || this.#open?.type !== 'reasoning') this.#piece('reasoning', content)
    if (isComplete) this.#close()
  }

  #piece(type: 'text' | 'reasoning', delta: string): void {
    if (delta === '') return
    this.#modelSpeaks()
    if (type === 'text') this.#hasText = true
    if (this.#open?.type !== type) {
      this.#close()
      const id = `${type}-${(this.#parts += 1)}`
      this.#open = { type, id }
      this.#said.push({ type: `${type}-start`, id })
    }
    this.#said.push({ type: `${type}-delta`, id: this.#open.id, delta })
  }

  #answer(chunk: ChunkOf<'tool_end'>): void {
    const { toolCallId, toolName, success, result, error } = chunk
    if (!this.#calls.has(toolCallId)) {
      // Its beginning was missed.
      this.#beginCall(toolCallId)
      const input = null
      this.#said.push({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true })
    }
    this.#isAnswered = true
    const asked = this.#requests.end(chunk, this.#toErrorText)
    if (asked !== undefined) this.#said.push(...asked)
    else if (success) {
      this.#said.push({ type: 'tool-output-available', toolCallId, output: result ?? null })
    } else {
      const errorText = this.#toErrorText(error)
      this.#said.push({ type: 'tool-output-error', toolCallId, errorText })
    }
  }

  readonly #toErrorText = (error: ChunkOf<'tool_end'>['error']): string =>
    this.#errorText(error ?? { code: 'internal', message: 'the tool failed' })

  #beginCall(toolCallId: string): void {
    this.#beginStep()
    this.#isCalling = true
    this.#close()
    this.#calls.add(toolCallId)
    this.#writing.delete(toolCallId)
  }

  /** A sub-agent asks through its root: what it asks is a part of its own. */
  #sayOfSubAgent(chunk: SequencedChunk): void {
    if (chunk.type === 'approval_request') this.#say(asJson(chunk))
    if (chunk.type === 'approval_resolved') this.#say(chunk)
    if (chunk.type !== 'tool_end') return
    this.#said.push(...this.#requests.endOfSubAgent(chunk, this.#toErrorText))
  }

  /** Not kept in the message: `onData` of the chat gets it. */
  #emit(name: string, data: unknown): void {
    this.#said.push({ type: `data-${name}`, data, transient: true })
  }

  #modelSpeaks(): void {
    if (this.#isAnswered) this.#endStep()
    this.#beginStep()
  }

  #beginStep(): void {
    if (this.#isInStep) return
    this.#isInStep = true
    this.#hadText = this.#hasText
    this.#said.push({ type: 'start-step' })
  }

  #endStep(): void {
    this.#close()
    if (this.#isInStep) this.#said.push({ type: 'finish-step' })
    this.#isInStep = false
    this.#isCalling = false
    this.#isAnswered = false
  }

  /** The next attempt of the model says it anew. A step with calls is stored as it is. */
  #discardStep(): void {
    if (!this.#isInStep || this.#isCalling) return
    this.#open = undefined
    this.#hasText = this.#hadText
    for (const toolCallId of this.#writing) this.#calls.delete(toolCallId)
    this.#writing.clear()
    this.#said.push({ type: 'reset-step' })
  }

  #close(): void {
    if (this.#open === undefined) return
    const { type, id } = this.#open
    this.#said.push({ type: `${type}-end`, id })
    this.#open = undefined
  }
}

/** As a store would keep it: bytes and big numbers are written out. */
function asJson(chunk: SequencedChunk): SequencedChunk {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was a chunk before
  return JSON.parse(toChunkJson(chunk)) as SequencedChunk
}
