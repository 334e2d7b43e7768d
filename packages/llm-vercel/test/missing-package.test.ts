import { modelFromEnvironment } from '@helix-agents/llm-vercel/environment'
import { expect, test, vi } from 'vitest'

vi.mock('@ai-sdk/anthropic', () => {
  throw new Error('it is not installed')
})

test('a package that is missing is named, with what to do', async () => {
  const environment = { MODEL: 'anthropic/claude', ANTHROPIC_API_KEY: 'k' }
  await expect(modelFromEnvironment(environment)).rejects.toMatchObject({
    code: 'invalid-request',
    message: 'the model needs the package @ai-sdk/anthropic, which cannot be loaded',
    hint: 'Run npm install @ai-sdk/anthropic.',
    cause: expect.any(Error),
  })
})
