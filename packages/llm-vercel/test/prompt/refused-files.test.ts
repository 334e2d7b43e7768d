// Which files a provider means, by the words with which it refuses a prompt, and what stands in their place.
import {
  type LanguageModelV4FilePart,
  type LanguageModelV4Prompt,
  type LanguageModelV4ToolResultPart,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider'
import { MockLanguageModelV4 } from 'ai/test'
import { beforeEach, describe, expect, test } from 'vitest'
import { type UnreadableFile, UnreadableFiles } from '../../src/prompt/unreadable-files.ts'

type ToolResult = LanguageModelV4ToolResultPart

let told: UnreadableFile[]
let files: UnreadableFiles
beforeEach(() => {
  told = []
  files = new UnreadableFiles((file) => told.push(file))
})

const modelNamed = (modelId: string) => new MockLanguageModelV4({ provider: 'p', modelId })
const model = modelNamed('m')
const refusing = (functionality: string): Error =>
  new UnsupportedFunctionalityError({ functionality })

const file = (mediaType: string, more: Partial<LanguageModelV4FilePart> = {}) =>
  ({ type: 'file', mediaType, data: { type: 'data', data: 'AQ==' }, ...more }) as const
const address = { data: { type: 'url', url: new URL('https://a.test') } } as const
const promptOf = (...content: LanguageModelV4FilePart[]): LanguageModelV4Prompt => [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content },
]

const ALL = [
  'audio/wav',
  'video/mp4',
  'application/pdf',
  'image/png',
  'text/csv',
  'application/zip',
]

describe('words', () => {
  test.each([
    ['media type image/PNG', ['image/png']],
    ['Audio input', ['audio/wav']],
    ['video', ['video/mp4']],
    ['PDF parts', ['application/pdf']],
    ['image parts', ['image/png']],
    ['text file parts', ['text/csv']],
    ['file parts', ALL],
    ['some media', ALL],
    ['audio and video', ['audio/wav', 'video/mp4']],
    ['tool choice', []],
  ])('%s', (words, expected) => {
    const prompt = promptOf(...ALL.map((mediaType) => file(mediaType)))
    expect(files.learn(refusing(words), () => prompt, model)).toBe(expected.length > 0)
    expect(told.map(({ mediaType }) => mediaType)).toEqual(expected)
  })

  test('of a kind that the prompt does not have may mean any image', () => {
    const prompt = promptOf(file('application/zip'))
    expect(files.learn(refusing('image parts'), () => prompt, model)).toBe(true)
    expect(told).toEqual([
      { provider: 'p', modelId: 'm', mediaType: 'application/zip', isAddress: false },
    ])
  })

  test('of addresses mean addresses alone', () => {
    const prompt = promptOf(file('image/png'), file('image/png', address), file('image/gif'))
    expect(files.learn(refusing('image URL parts'), () => prompt, model)).toBe(true)
    expect(told).toEqual([{ provider: 'p', modelId: 'm', mediaType: 'image/png', isAddress: true }])
    const left = files.apply(prompt, model)[1]
    expect(left?.content).toMatchObject([{ type: 'file' }, { type: 'text' }, { type: 'file' }])
  })

  test('of another failure, or of a prompt without files, say nothing', () => {
    const prompt = promptOf(file('image/png'))
    expect(files.learn(new Error('image parts'), () => prompt, model)).toBe(false)
    expect(files.learn(refusing('image parts'), () => promptOf(), model)).toBe(false)
    expect(files.apply(prompt, model)).toBe(prompt)
  })
})

describe('what is known of a model', () => {
  test('is told once for each kind, and learned once', () => {
    const prompt = promptOf(file('image/png'), file('image/png'))
    expect(files.learn(refusing('image parts'), () => prompt, model)).toBe(true)
    expect(told).toHaveLength(1)
    // It was left out already: to try again would fail again.
    expect(files.learn(refusing('image parts'), () => prompt, model)).toBe(false)
    const more = promptOf(file('image/png'), file('image/gif'))
    expect(files.learn(refusing('image parts'), () => more, model)).toBe(true)
    expect(told.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/gif'])
    expect(files.apply(more, model)[1]?.content).toMatchObject([{ type: 'text' }, { type: 'text' }])
  })

  test('is not known of another', () => {
    const prompt = promptOf(file('image/png'))
    files.learn(refusing('image parts'), () => prompt, model)
    expect(files.apply(prompt, modelNamed('other'))).toBe(prompt)
  })

  test('is forgotten after a thousand others', () => {
    const prompt = promptOf(file('image/png'))
    const learn = (modelId: string): boolean =>
      files.learn(refusing('image parts'), () => prompt, modelNamed(modelId))
    for (let index = 0; index < 1000; index += 1) learn(String(index))
    expect(files.apply(prompt, modelNamed('0'))).not.toBe(prompt)
    learn('1000')
    expect(files.apply(prompt, modelNamed('0'))).toBe(prompt)
    expect(files.apply(prompt, modelNamed('1000'))).not.toBe(prompt)
  })
})

const text = (name: string) => ({
  type: 'text',
  text: `[A file was left out (${name}): this model cannot read such files.]`,
})

describe('in the place of a file', () => {
  test('stands a sentence, with the mark for the cache', () => {
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    const named = file('image/png', { filename: 'a.png', providerOptions })
    const prompt = promptOf(file('image/png'), named, file('text/csv'))
    files.learn(refusing('image parts'), () => prompt, model)
    expect(files.apply(prompt, model)).toStrictEqual([
      prompt[0],
      {
        role: 'user',
        content: [
          text('image/png'),
          { ...text('a.png, image/png'), providerOptions },
          file('text/csv'),
        ],
      },
    ])
  })

  test('also in results of tools; what has none stays the same', () => {
    const base = { type: 'tool-result', toolCallId: 'c', toolName: 't' } as const
    const plain: ToolResult = { ...base, output: { type: 'text', value: 'x' } }
    const said: ToolResult = {
      ...base,
      output: { type: 'content', value: [{ type: 'text', text: 'x' }] },
    }
    const image: ToolResult = {
      ...base,
      output: { type: 'content', value: [{ type: 'text', text: 'x' }, file('image/png')] },
    }
    const prompt: LanguageModelV4Prompt = [
      { role: 'assistant', content: [{ type: 'text', text: 'So.' }] },
      { role: 'tool', content: [plain, said] },
      { role: 'tool', content: [plain, said, image] },
    ]
    files.learn(refusing('image parts'), () => prompt, model)
    const applied = files.apply(prompt, model)
    expect(applied[0]).toBe(prompt[0])
    expect(applied[1]).toBe(prompt[1])
    expect(applied[2]).toEqual({
      role: 'tool',
      content: [
        plain,
        said,
        {
          ...base,
          output: { type: 'content', value: [{ type: 'text', text: 'x' }, text('image/png')] },
        },
      ],
    })
  })
})
