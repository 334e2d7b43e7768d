// A model server in miniature that speaks as OpenAI's chat completions do: what a user has with
// Ollama or llama.cpp.
import { once } from 'node:events'
import { createServer } from 'node:http'

export interface LocalModel {
  /** As `MODEL_BASE_URL`. */
  readonly url: string
  close(): void
}

/** A step of the model: what it says, or one call of a tool. */
export type ModelStep = string | { readonly tool: string; readonly input: object }

/** Plays the steps by how many answers a conversation has so far; after the last, it repeats that. */
export async function startLocalModel(steps: readonly ModelStep[]): Promise<LocalModel> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { messages } = JSON.parse(body) as { messages: { role: string }[] }
    const turn = messages.filter(({ role }) => role === 'assistant').length
    const step = steps[Math.min(turn, steps.length - 1)] ?? ''
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const choice of choicesOf(step, turn)) {
      const chunk = { id: `c${turn}`, object: 'chat.completion.chunk', created: 1, model: 'tiny' }
      response.write(
        `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, ...choice }] })}\n\n`,
      )
    }
    response.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/v1`, close }
}

function choicesOf(step: ModelStep, turn: number): object[] {
  if (typeof step === 'string') {
    const words = step.split(/(?<= )/).map((content) => ({ delta: { role: 'assistant', content } }))
    return [...words, { delta: {}, finish_reason: 'stop' }]
  }
  const call = { name: step.tool, arguments: JSON.stringify(step.input) }
  const toolCalls = [{ index: 0, id: `call-${turn}`, type: 'function', function: call }]
  const delta = { role: 'assistant', tool_calls: toolCalls }
  return [{ delta }, { delta: {}, finish_reason: 'tool_calls' }]
}
