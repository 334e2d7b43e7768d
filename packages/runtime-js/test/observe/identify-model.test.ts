// Names of models and of their providers as the conventions of OpenTelemetry want them.
import { expect, test } from 'vitest'
import { identifyModel } from '../../src/observe/identify-model.ts'

test.each([
  ['amazon-bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['google', 'gcp.gemini'],
  ['mistral', 'mistral_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['google-vertex', 'gcp.vertex_ai'],
  ['xai', 'x_ai'],
  ['openai', 'openai'],
])('the models of %s are of %s', (family, provider) => {
  for (const given of [family, `${family}.chat`]) {
    expect(identifyModel({ modelId: 'm', provider: given })).toEqual({ model: 'm', provider })
  }
})

test.each<readonly [unknown, object]>([
  ['plain', { model: 'plain' }],
  [{ modelId: 'm' }, { model: 'm' }],
  [{ modelId: 'm', provider: '' }, { model: 'm' }],
  [{ modelId: 'm', provider: 7 }, { model: 'm' }],
  [{ modelId: 7, provider: 'p' }, {}],
  [{ provider: 'p' }, {}],
  [null, {}],
  [undefined, {}],
  [7, {}],
])('of %o only what is known is told', (given, identity) => {
  expect(identifyModel(given)).toEqual(identity)
})
