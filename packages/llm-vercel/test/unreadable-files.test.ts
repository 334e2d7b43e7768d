// Files that a provider does not take: the run goes on, and its model is told.
import { UnsupportedFunctionalityError } from '@ai-sdk/provider'
import type { FilePart, Message, StepInput } from '@helix-agents/core'
import { RecordingLogger } from '@helix-agents/core/testing'
import { type UnreadableFile, VercelAIAdapter } from '@helix-agents/llm-vercel'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { fetchOf } from './wire/wire-fetch.ts'
import { createWireSubject, providerNames } from './wire/wire-subjects.ts'

const sound = { data: Uint8Array.of(1, 2), mediaType: 'audio/flac', filename: 'a.flac' }
const image = { data: Uint8Array.of(3), mediaType: 'image/png' }
const archive = { data: Uint8Array.of(4), mediaType: 'application/zip' }
const address = { data: 'https://files.test/a.png', mediaType: 'image/png' }

function inputOf(messages: readonly Message[], model: unknown): StepInput {
  return {
    messages,
    tools: [],
    config: { model, maxRetries: 0 },
    abortSignal: new AbortController().signal,
    callbacks: { onRetry: () => expect.unreachable('nothing was sent, so nothing is sent again') },
    agentId: 'run',
    agentType: 'agent',
  }
}

const withFiles = (...files: FilePart[]): Message => ({ role: 'user', content: 'Look.', files })

/** A model that refuses by these words as long as the prompt has a file that fits. */
function picky(functionality: string, mediaType: RegExp, modelId = 'picky') {
  const prompts: string[] = []
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  }
  const model = new MockLanguageModelV4({
    modelId,
    doStream: async ({ prompt }) => {
      prompts.push(JSON.stringify(prompt))
      const types = [...(prompts.at(-1) ?? '').matchAll(/"mediaType":"(?<type>[^"]+)"/g)]
      if (types.some(({ groups }) => mediaType.test(groups?.type ?? ''))) {
        throw new UnsupportedFunctionalityError({ functionality })
      }
      return {
        stream: convertArrayToReadableStream([
          { type: 'text-start', id: '0' },
          { type: 'text-delta', id: '0', delta: 'ok' },
          { type: 'text-end', id: '0' },
          { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
        ]),
      }
    },
  })
  return { model, prompts }
}

function setup(functionality: string, mediaType: RegExp) {
  const told: UnreadableFile[] = []
  const logger = new RecordingLogger()
  const errors: unknown[] = []
  const adapter = new VercelAIAdapter({
    logger,
    onUnreadableFile: (file) => void told.push(file),
    onProviderError: (error) => void errors.push(error),
  })
  return { adapter, errors, logger, told, ...picky(functionality, mediaType) }
}

describe('a file that its model cannot read', () => {
  test('is left out, and the model and the operator are told', async () => {
    const { adapter, errors, logger, model, prompts, told } = setup(
      'media type: audio/flac',
      /audio/,
    )
    const result = await adapter.generateStep(inputOf([withFiles(sound, image)], model))
    expect(result).toMatchObject({ type: 'text', content: 'ok' })
    expect(prompts).toHaveLength(2)
    expect(prompts[1]).toContain('(a.flac, audio/flac)')
    expect(prompts[1]).toContain('image/png')
    const file = { mediaType: 'audio/flac', isAddress: false, modelId: model.modelId }
    expect(told).toMatchObject([file])
    expect(logger.with('the model cannot read a kind of file')).toHaveLength(1)
    expect(errors).toEqual([])
  })

  test('is left out also when the one who is told fails', async () => {
    const logger = new RecordingLogger()
    const err = new Error('no listener')
    const onUnreadableFile = (): never => {
      throw err
    }
    const { model } = picky('media type: audio/flac', /audio/)
    const adapter = new VercelAIAdapter({ logger, onUnreadableFile })
    const result = await adapter.generateStep(inputOf([withFiles(sound)], model))
    expect(result).toMatchObject({ type: 'text', content: 'ok' })
    expect(logger.with('onUnreadableFile failed')).toMatchObject([
      { level: 'warn', fields: { err } },
    ])
  })

  test('is not sent without it after an abort', async () => {
    const stop = new AbortController()
    const { model, prompts } = picky('media type: audio/flac', /audio/)
    const adapter = new VercelAIAdapter({ onUnreadableFile: () => stop.abort('enough') })
    const input = { ...inputOf([withFiles(sound)], model), abortSignal: stop.signal }
    await expect(adapter.generateStep(input)).rejects.toBe('enough')
    expect(prompts).toHaveLength(1)
  })

  test('is not tried again in the next step, and others of another model are', async () => {
    const { adapter, model, prompts, told } = setup('media type: audio/flac', /audio/)
    const messages = [withFiles(sound)]
    await adapter.generateStep(inputOf(messages, model))
    messages.push({ role: 'assistant', content: 'ok' }, { role: 'user', content: 'Go on.' })
    await adapter.generateStep(inputOf(messages, model))
    expect([prompts.length, told.length]).toEqual([3, 1])
    const other = picky('none', /never/, 'another')
    await adapter.generateStep(inputOf(messages, other.model))
    expect(other.prompts[0]).toContain('"mediaType":"audio/flac"')
  })

  test('in a result of a tool as well', async () => {
    const { adapter, model, prompts } = setup('file part media type application/zip', /zip/)
    const call = { id: 'c', name: 'tool', arguments: {} }
    const result = await adapter.generateStep(
      inputOf(
        [
          { role: 'user', content: 'Go.' },
          { role: 'assistant', content: '', toolCalls: [call] },
          {
            role: 'tool',
            toolCallId: 'c',
            toolName: 'tool',
            content: [
              { type: 'text', text: 'here' },
              { type: 'media', ...archive },
            ],
          },
        ],
        model,
      ),
    )
    expect(result.type).toBe('text')
    expect(prompts.at(-1)).toContain('(application/zip)')
  })

  test.each([
    ['audio file parts with URLs', [{ ...sound, data: 'https://files.test/a.flac' }, image]],
    ['PDF file parts with URLs', [{ data: 'https://files.test/a', mediaType: 'application/pdf' }]],
    ['file parts', [archive, image]],
  ])('of a kind that is only named so: %s', async (words, files) => {
    const refused = new RegExp(files[0]?.mediaType ?? '')
    const { adapter, model, told } = setup(words, refused)
    expect((await adapter.generateStep(inputOf([withFiles(...files)], model))).type).toBe('text')
    expect(told.map(({ mediaType }) => mediaType)).toContain(files[0]?.mediaType)
  })

  test('only the address is left out where only addresses are refused', async () => {
    const { adapter, model, prompts, told } = setup('image parts with URLs', /never/)
    let calls = 0
    const { doStream } = model
    model.doStream = async (options) => {
      calls += 1
      if (calls === 1) {
        throw new UnsupportedFunctionalityError({ functionality: 'image parts with URLs' })
      }
      return doStream(options)
    }
    await adapter.generateStep(inputOf([withFiles(address, image)], model))
    expect(told).toMatchObject([{ mediaType: 'image/png', isAddress: true }])
    expect(prompts[0]?.match(/"type":"file"/g)).toHaveLength(1)
  })

  test.each([
    ['no file', 'media type: audio/flac', []],
    ['something else', 'tool choice type: none', [image]],
  ])('%s: the call fails as before', async (_, words, files) => {
    const { adapter, errors, model } = setup(words, /.*/)
    model.doStream = async () => {
      throw new UnsupportedFunctionalityError({ functionality: words })
    }
    const result = await adapter.generateStep(inputOf([withFiles(...files)], model))
    expect(result).toMatchObject({ type: 'error', error: { code: 'invalid-request' } })
    expect(errors).toHaveLength(1)
  })

  test('a provider that refuses whatever is left ends', async () => {
    const { adapter, model } = setup('file parts', /.*/)
    let calls = 0
    model.doStream = async () => {
      calls += 1
      throw new UnsupportedFunctionalityError({ functionality: 'file parts' })
    }
    const result = await adapter.generateStep(inputOf([withFiles(sound, image, archive)], model))
    expect([result.type, calls]).toEqual(['error', 2])
  })
})

describe.each(providerNames)('%s', (name) => {
  test.each([
    ['a sound', sound],
    ['an archive', archive],
  ])('goes on without %s', async (_, file) => {
    const told: UnreadableFile[] = []
    const onUnreadableFile = (one: UnreadableFile): void => void told.push(one)
    const subject = await createWireSubject(
      name,
      (wire) => ({ url: 'https://wire.test/v1', fetch: fetchOf(wire) }),
      { onUnreadableFile },
    )
    subject.plan({ type: 'answer', parts: [{ type: 'text', pieces: ['I cannot hear.'] }] })
    const input = inputOf([withFiles(file, image)], subject.config.model)
    expect(await subject.adapter.generateStep(input)).toMatchObject({ content: 'I cannot hear.' })
    expect(told).toMatchObject([{ mediaType: file.mediaType }])
    const [call] = subject.calls
    expect(JSON.stringify(call)).toContain(file.mediaType)
    expect(JSON.stringify(call)).toContain('was left out')
  })
})
