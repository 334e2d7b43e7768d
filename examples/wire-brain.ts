// The scripted story of the showcase, as the brain behind a provider: what the model says comes
// over the wire, and what the tools said goes back over it.
import type { Message, StepInput, StepResult } from '../packages/core/src/index.ts'
import type { Brain } from '../packages/llm-vercel/test/wire/wire.ts'
import type {
  PlannedTurn,
  SeenCall,
  SeenMessage,
} from '../packages/workspace-conformance/src/model/index.ts'
import { firstPart, lastWords, secondPart } from './workspaces-showcase/story.ts'

export interface StoryPlace {
  readonly hasShell: boolean
  readonly isDurable: boolean
}

/** Where there is no shell the first process is killed while the model speaks, not while it works. */
export function storyBrain({ hasShell, isDurable }: StoryPlace): Brain {
  const first = hasShell ? firstPart(true) : firstPart(false).slice(0, -1)
  const script = [...first, ...secondPart(hasShell, isDurable)]
  let wasCut = hasShell
  return async (call) => {
    const index = call.messages.filter(({ role }) => role === 'assistant').length
    if (index === first.length && !wasCut) {
      wasCut = true
      const parts = [{ type: 'text', pieces: [lastWords] }] as const
      return { type: 'answer', parts, end: 'silence' }
    }
    const step = script[index]
    if (step === undefined) throw new Error(`the story has no step ${index}`)
    return toTurn(typeof step === 'function' ? await step(toInput(call)) : step)
  }
}

function toTurn(result: StepResult): PlannedTurn {
  if (result.type !== 'text' && result.type !== 'tool_calls') throw new Error(result.type)
  const { content = '' } = result
  const calls = result.type === 'tool_calls' ? result.toolCalls : []
  return {
    type: 'answer',
    parts: [
      ...(content === '' ? [] : [{ type: 'text', pieces: halves(content) } as const]),
      ...calls.map(({ id, name, arguments: given }) => {
        return { type: 'call', id, name, pieces: halves(JSON.stringify(given)) } as const
      }),
    ],
  }
}

function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '')
}

function toInput({ messages }: SeenCall): StepInput {
  return {
    messages: messages.flatMap(toMessages),
    tools: [],
    config: { model: 'wire' },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'run',
    agentType: 'maintainer',
  }
}

function toMessages(message: SeenMessage): readonly Message[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }]
  if (message.role === 'assistant') {
    return [{ role: 'assistant', content: message.text, toolCalls: message.calls }]
  }
  return message.results.map(({ toolCallId, text }) => ({
    role: 'tool',
    toolCallId,
    toolName: 'tool',
    content: text,
  }))
}
