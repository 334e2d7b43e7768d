import type { Json } from './wire.ts'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/
const COMBINATORS = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'] as const
/** What strict mode of OpenAI does not take. */
const NOT_STRICT = ['allOf', 'not', 'dependentRequired', 'if', 'then', 'else', 'patternProperties']

/** A tool as it stands in a request. */
export interface WireTool {
  readonly name: unknown
  readonly description?: unknown
  readonly parameters: unknown
  readonly strict?: unknown
}

/** What a provider says of the tools of a request; `undefined` when they are good. */
export function problemOfTools(tools: readonly WireTool[]): string | undefined {
  const names = tools.map(({ name }) => name)
  if (new Set(names).size !== names.length) return 'tools: names must be unique'
  if (tools.length > 128) return 'tools: too many'
  return tools.map(problemOfTool).find((problem) => problem !== undefined)
}

function problemOfTool(tool: WireTool): string | undefined {
  const { name, description, parameters, strict } = tool
  if (typeof name !== 'string' || !NAME.test(name)) return `tool name ${String(name)}`
  if (typeof description === 'string' && description.length > 1024) return `${name}: description`
  if (!isRecord(parameters)) return `${name}: no parameters`
  if (parameters['type'] !== 'object') return `${name}: parameters must be of type object`
  const atTop = COMBINATORS.find((key) => key in parameters)
  if (atTop !== undefined) return `${name}: ${atTop} at the top level`
  return (
    problemIn(parameters, name) ?? (strict === true ? strictProblemIn(parameters, name) : undefined)
  )
}

/** What no schema may hold: valid is what draft 2020-12 knows, in the part that OpenAI reads. */
const FAULTS: readonly (readonly [string, (schema: Json) => boolean])[] = [
  ['items must be a schema', ({ items }) => Array.isArray(items)],
  ['no items', ({ type, items }) => type === 'array' && items === undefined],
  ['exclusiveMinimum', ({ exclusiveMinimum: it }) => typeof it === 'boolean'],
  ['propertyNames', (schema) => 'propertyNames' in schema],
  ['$schema', (schema) => '$schema' in schema],
  ['pattern with lookaround', ({ pattern = '' }) => /\(\?[=!<]/.test(JSON.stringify(pattern))],
  ['required', ({ required = [] }) => !isUniqueList(required)],
]

function problemIn(schema: unknown, path: string): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isRecord(schema)) return `${path}: not a schema`
  const fault = FAULTS.find(([, has]) => has(schema))
  if (fault !== undefined) return `${path}: ${fault[0]}`
  return childrenOf(schema)
    .map(([key, child]) => problemIn(child, `${path}.${key}`))
    .find((problem) => problem !== undefined)
}

function isUniqueList(value: unknown): boolean {
  return Array.isArray(value) && new Set(value).size === value.length
}

function strictProblemIn(schema: unknown, path: string): string | undefined {
  if (!isRecord(schema)) return undefined
  const unknown = NOT_STRICT.find((key) => key in schema)
  if (unknown !== undefined) return `${path}: ${unknown} is not permitted`
  if (schema['type'] === 'object') {
    const names = Object.keys(recordOf(schema['properties']))
    if (schema['additionalProperties'] !== false) return `${path}: additionalProperties`
    const required = schema['required']
    if (!Array.isArray(required) || names.some((name) => !required.includes(name))) {
      return `${path}: required must name every property`
    }
  }
  return childrenOf(schema)
    .map(([key, child]) => strictProblemIn(child, `${path}.${key}`))
    .find((problem) => problem !== undefined)
}

function childrenOf(schema: Json): readonly (readonly [string, unknown])[] {
  const unions = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => {
    const parts = schema[key]
    return Array.isArray(parts) ? parts.map((part, at) => [`${key}.${at}`, part] as const) : []
  })
  const { items } = schema
  return [
    ...Object.entries(recordOf(schema['properties'])),
    ...Object.entries(recordOf(schema['$defs'])),
    ...Object.entries(recordOf(schema['definitions'])),
    ...unions,
    ...(items === undefined ? [] : [['items', items] as const]),
  ]
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {}
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
