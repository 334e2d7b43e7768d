/** What can be told of a model without asking its adapter. */
export interface ModelIdentity {
  readonly model?: string
  /** As the OpenTelemetry conventions call it. */
  readonly provider?: string
}

/** First part of the provider that an AI SDK model names → its name in the conventions. */
const PROVIDER_NAMES: ReadonlyMap<string, string> = new Map([
  ['amazon-bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['google', 'gcp.gemini'],
  ['mistral', 'mistral_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['google-vertex', 'gcp.vertex_ai'],
  ['xai', 'x_ai'],
])

/** Knows a name, and objects with a `modelId`, like the models of the AI SDK. */
export function identifyModel(model: unknown): ModelIdentity {
  if (typeof model === 'string') return { model }
  const id = textOf(model, 'modelId')
  if (id === undefined) return {}
  const [family] = textOf(model, 'provider')?.split('.') ?? []
  if (family === undefined || family === '') return { model: id }
  return { model: id, provider: PROVIDER_NAMES.get(family) ?? family }
}

function textOf(value: unknown, key: 'modelId' | 'provider'): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const text: unknown = Reflect.get(value, key)
  return typeof text === 'string' ? text : undefined
}
