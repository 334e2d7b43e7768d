// Which provider a name leads to, and what that gets.
import { fetchWithinOrigin, modelByName } from '@helix-agents/llm-vercel'
import { MockLanguageModelV4 } from 'ai/test'
import { beforeEach, describe, expect, test } from 'vitest'
import { unknownProvider, wantedModel } from '../src/model-by-name.ts'

const model = new MockLanguageModelV4()
let made: unknown[]
beforeEach(() => {
  made = []
})

const factory = (name: string) => (settings: object) => (modelId: string) => {
  made.push([name, settings, modelId])
  return model
}
const providers = { openai: factory('openai'), 'my-own': factory('my-own') }
const compatible = factory('compatible')
const all = { providers, compatible }
const fetch = fetchWithinOrigin

describe('what a provider gets', () => {
  test.each<[Record<string, unknown>, unknown]>([
    [{ MODEL: 'openai/gpt/5', OPENAI_API_KEY: 'k' }, ['openai', { apiKey: 'k', fetch }, 'gpt/5']],
    [
      { MODEL: 'openai/gpt', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://a.test/v1' },
      ['openai', { apiKey: 'k', fetch, baseURL: 'https://a.test/v1' }, 'gpt'],
    ],
    [
      { MODEL: 'openai/gpt', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: '', AI_GATEWAY_API_KEY: 'g' },
      ['openai', { apiKey: 'k', fetch }, 'gpt'],
    ],
    [{ MODEL: 'my-own/m', MY_OWN_API_KEY: 'k' }, ['my-own', { apiKey: 'k', fetch }, 'm']],
    [
      { MODEL: 'org/m', MODEL_BASE_URL: 'http://a.test' },
      [
        'compatible',
        { name: 'compatible', includeUsage: true, fetch, baseURL: 'http://a.test' },
        'org/m',
      ],
    ],
    [
      { MODEL: 'm', MODEL_BASE_URL: 'http://a.test', MODEL_API_KEY: 'k' },
      [
        'compatible',
        { name: 'compatible', includeUsage: true, fetch, baseURL: 'http://a.test', apiKey: 'k' },
        'm',
      ],
    ],
  ])('by %j', (environment, expected) => {
    expect(modelByName(environment, all)).toBe(model)
    expect(made).toStrictEqual([expected])
  })

  test('the gateway has every other one', () => {
    const found = modelByName({ MODEL: 'xai/grok/4', AI_GATEWAY_API_KEY: 'g' }, all)
    expect([found?.provider, found?.modelId]).toEqual(['gateway', 'xai/grok/4'])
    // A name of every object is no provider.
    const odd = modelByName({ MODEL: 'constructor/x', AI_GATEWAY_API_KEY: 'g' }, all)
    expect(odd?.modelId).toBe('constructor/x')
    expect(made).toEqual([])
  })
})

describe('what is wrong is named', () => {
  test.each<[Record<string, unknown>, object, string, string]>([
    [{ MODEL: 'm', MODEL_BASE_URL: 'http://a.test' }, {}, 'invalid-request', 'not supported here'],
    [{ MODEL: 'openai/gpt' }, all, 'unauthorized', 'OPENAI_API_KEY is not set'],
    [{ MODEL: 'my-own/m', MY_OWN_API_KEY: 5 }, all, 'unauthorized', 'MY_OWN_API_KEY is not set'],
    [
      { MODEL: 'xai/grok' },
      all,
      'invalid-request',
      '"xai", which is not known (known here: openai, my-own)',
    ],
    [
      { MODEL: 'xai/grok' },
      {},
      'invalid-request',
      '"xai", which is not known (none is known here)',
    ],
    [{ MODEL: 'xai/grok', AI_GATEWAY_API_KEY: '' }, all, 'invalid-request', '"xai"'],
    [
      { MODEL: 'openai/m', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'ftp://a.test' },
      all,
      'invalid-request',
      'OPENAI_BASE_URL is no address that starts with http:// or https://',
    ],
  ])('%j', (environment, known, code, words) => {
    const open = (): unknown => modelByName(environment, known)
    expect(open).toThrow(expect.objectContaining({ code }))
    expect(open).toThrow(words)
    expect(made).toEqual([])
  })

  test('in a line, cut', () => {
    const error = unknownProvider(`a\n${'x'.repeat(100)}`, [])
    expect(error.message).toContain(JSON.stringify(`a\n${'x'.repeat(78)}`))
    expect(error.hint).toContain('AI_GATEWAY_API_KEY')
  })
})

test('what an environment asks for', () => {
  expect(wantedModel({})).toBeUndefined()
  expect(wantedModel({ MODEL: 5 })).toBeUndefined()
  expect(wantedModel({ MODEL: 'a/b/c' })).toStrictEqual({ provider: 'a', id: 'b/c' })
  const baseURL = 'http://a.test'
  expect(wantedModel({ MODEL: 'a', MODEL_BASE_URL: baseURL })).toStrictEqual({
    id: 'a',
    baseURL,
    settings: { baseURL },
  })
})
