import { ModelError } from '@helix-agents/core'
import { modelFromEnvironment } from '@helix-agents/llm-vercel/environment'
import { describe, expect, test } from 'vitest'

const named = async (environment: Readonly<Record<string, string>>) => {
  const model = await modelFromEnvironment(environment)
  return [model?.provider, model?.modelId]
}

describe('modelFromEnvironment', () => {
  test.each([
    [{}, [undefined, undefined]],
    [{ MODEL: '' }, [undefined, undefined]],
    [{ MODEL: 'openai/gpt-5', OPENAI_API_KEY: 'k' }, ['openai.responses', 'gpt-5']],
    [{ MODEL: 'anthropic/claude-x', ANTHROPIC_API_KEY: 'k' }, ['anthropic.messages', 'claude-x']],
    [
      { MODEL: 'org/model:7b', MODEL_BASE_URL: 'http://127.0.0.1:1/v1' },
      ['compatible.chat', 'org/model:7b'],
    ],
    [{ MODEL: 'xai/grok', AI_GATEWAY_API_KEY: 'k' }, ['gateway', 'xai/grok']],
  ])('%o is %o', async (environment, expected) => {
    expect(await named(environment)).toEqual(expected)
  })

  test.each([
    [{ MODEL: 'openai/gpt-5' }, 'unauthorized', 'OPENAI_API_KEY'],
    [{ MODEL: 'anthropic/claude-x' }, 'unauthorized', 'ANTHROPIC_API_KEY'],
    [{ MODEL: 'openai/gpt-5' }, 'unauthorized', 'the model "openai/gpt-5" needs it'],
    [{ MODEL: 'xai/grok' }, 'invalid-request', '"xai"'],
    [
      { MODEL: 'opnai/gpt-5' },
      'invalid-request',
      '"opnai", which is not known (known here: openai, anthropic)',
    ],
    [{ MODEL: 'openai-compatible/m' }, 'invalid-request', 'openai-compatible'],
    [{ MODEL: 'm', MODEL_BASE_URL: 'localhost:11434/v1' }, 'invalid-request', 'MODEL_BASE_URL'],
    [{ MODEL: 'm', MODEL_BASE_URL: 'nowhere' }, 'invalid-request', 'MODEL_BASE_URL'],
    [
      { MODEL: 'openai/m', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: '/v1' },
      'invalid-request',
      'OPENAI_BASE_URL',
    ],
    [{ MODEL: 'gpt-5' }, 'invalid-request', 'MODEL must be provider/name, and it is "gpt-5"'],
    [{ MODEL: '/gpt-5' }, 'invalid-request', 'MODEL must be provider/name, and it is "/gpt-5"'],
    [{ MODEL: 'openai/' }, 'invalid-request', 'MODEL must be provider/name, and it is "openai/"'],
    [{ MODEL: 'openai//' }, 'invalid-request', 'MODEL must be provider/name, and it is "openai//"'],
    [{ MODEL_BASE_URL: 'http://127.0.0.1:1' }, 'invalid-request', 'MODEL is not'],
  ])('%o is %s', async (environment, code, words) => {
    const [end] = await Promise.allSettled([modelFromEnvironment(environment)])
    const error: unknown = end.status === 'rejected' ? end.reason : undefined
    expect(ModelError.isInstance(error) && error.code).toBe(code)
    expect(String(error)).toContain(words)
  })
})
