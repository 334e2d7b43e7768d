// What a network does to a stream: it cuts it anywhere, and it breaks anywhere.
import { ModelError, type StepInput, type StepResult } from '@helix-agents/core'
import type { TestSampler } from '@helix-agents/core/testing'
import type { PlannedTurn } from '@helix-agents/workspace-conformance/model'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWireServer, type WireServer } from '../wire/wire-server.ts'
import {
  createWireSubject,
  type ProviderName,
  providers,
  type WireSubject,
} from '../wire/wire-subjects.ts'

const SLOW_MS = 180_000
/** Of about 1,000 bytes of an answer. */
const SAMPLED_BYTES = 40

/** Text of several bytes a character, and two calls at once. */
const turn = {
  type: 'answer',
  parts: [
    { type: 'text', pieces: ['Zoë ', '🌱'] },
    { type: 'call', id: 'c1', name: 'read_page', pieces: ['{"page":', '1}'] },
    { type: 'call', id: 'c2', name: 'read_page', pieces: ['{"page":2}'] },
  ],
} as const satisfies PlannedTurn

/** What all providers have to stand; each has a file of its own, so that they run side by side. */
export function defineWireFaults(name: ProviderName, sampler: TestSampler): void {
  let server: WireServer
  let subject: WireSubject
  let places: readonly number[]

  beforeAll(async () => {
    subject = await createWireSubject(name, async (wire) => (server = await startWireServer(wire)))
    const bytes = Buffer.byteLength(subject.wire.format.write(turn).join(''))
    places = [...Array(bytes).keys()]
  })
  afterAll(() => server.close())

  test(
    'a stream that comes in two pieces, split at any byte, is the same answer',
    async () => {
      for (const at of sampler.pick(`splits ${name}`, places.slice(1), SAMPLED_BYTES)) {
        server.split = (all) => [all.subarray(0, at), all.subarray(at)]
        expect(said(await ask(subject)), `split at byte ${at}`).toEqual(WHOLE)
      }
      server.split = (_, frames) => frames
    },
    SLOW_MS,
  )

  test('a stream that comes byte by byte is the same answer', async () => {
    server.split = (all) => Array.from(all, (byte) => Buffer.of(byte))
    expect(said(await ask(subject))).toEqual(WHOLE)
    server.split = (_, frames) => frames
  })

  test(
    'a connection that breaks after any byte is no answer, or the whole one',
    async () => {
      const ends = new Set<string>()
      for (const at of sampler.pick(`breaks ${name}`, places, SAMPLED_BYTES)) {
        server.cutAfter = at
        const result = await ask(subject)
        ends.add(result.type === 'error' ? codeOf(result) : JSON.stringify(said(result)))
      }
      server.cutAfter = undefined
      const [lost, whole] = ['connection-lost', JSON.stringify(WHOLE)]
      expect([...ends].filter((end) => end !== whole)).toEqual([lost])
    },
    SLOW_MS,
  )

  test('an abort in the middle of an answer closes the connection', async () => {
    subject.plan({ type: 'answer', parts: [{ type: 'text', pieces: ['Well'] }], end: 'silence' })
    const controller = new AbortController()
    const onTextDelta = (): void => controller.abort(new Error('enough'))
    const left = server.leftByReader
    const step = subject.adapter.generateStep({
      ...inputOf(subject),
      abortSignal: controller.signal,
      callbacks: { onTextDelta },
    })
    await expect(step).rejects.toThrow('enough')
    await expect.poll(() => server.leftByReader).toBe(left + 1)
  })

  test('a server that is not there is a lost connection', async () => {
    const gone = await startWireServer(subject.wire)
    await gone.close()
    const model = providers[name].model({ url: gone.url })
    const result = await ask({ ...subject, config: { model } })
    expect(codeOf(result)).toBe('connection-lost')
  })
}

const WHOLE = { content: 'Zoë 🌱', calls: ['c1 {"page":1}', 'c2 {"page":2}'] }

function ask(subject: WireSubject): Promise<StepResult> {
  subject.plan(turn)
  return subject.adapter.generateStep(inputOf(subject))
}

function inputOf({ config }: WireSubject): StepInput {
  return {
    messages: [{ role: 'user', content: 'Go.' }],
    tools: [],
    config: { ...config, maxRetries: 0 },
    abortSignal: new AbortController().signal,
    callbacks: {},
    agentId: 'run',
    agentType: 'agent',
  }
}

function said(result: StepResult) {
  if (result.type !== 'tool_calls') return result
  const calls = result.toolCalls.map((call) => `${call.id} ${JSON.stringify(call.arguments)}`)
  return { content: result.content, calls }
}

function codeOf(result: StepResult): string {
  if (result.type !== 'error' || !ModelError.isInstance(result.error)) return result.type
  return result.error.code
}
