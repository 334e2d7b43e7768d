import type { JsonSchema } from '@helix-agents/core'

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = ['items', 'additionalProperties', 'not'] as const
const LISTS = ['anyOf', 'oneOf', 'allOf'] as const
const NAMED = ['properties', '$defs', 'definitions', 'patternProperties'] as const

/**
 * A schema that every provider reads. They follow different dialects of JSON Schema: a tuple is
 * written in two ways, of which each is an error to some provider, and becomes a list of as many items;
 * a list says what is in it; rules for the names of fields are left to the tool.
 */
export function toPortableSchema(schema: JsonSchema): JsonSchema {
  const { propertyNames: _names, additionalItems: _rest, prefixItems, ...kept } = schema
  const tuple = Array.isArray(prefixItems) ? prefixItems : kept['items']
  const items = Array.isArray(tuple) ? { items: itemsOf(tuple), ...lengthOf(kept, tuple) } : {}
  const open = schema['type'] === 'array' && kept['items'] === undefined ? { items: {} } : {}
  return mapChildren({ ...open, ...kept, ...items })
}

function itemsOf(tuple: readonly unknown[]): unknown {
  const variants = new Map(tuple.map((item) => [JSON.stringify(item), item]))
  const [first, ...others] = variants.values()
  return others.length === 0 ? (first ?? {}) : { anyOf: [...variants.values()] }
}

function lengthOf({ minItems, maxItems }: JsonSchema, { length }: readonly unknown[]) {
  return { minItems: minItems ?? length, maxItems: maxItems ?? length }
}

function mapChildren(schema: JsonSchema): JsonSchema {
  const mapped: Record<string, unknown> = { ...schema }
  for (const key of ONE) {
    if (isRecord(schema[key])) mapped[key] = toPortableSchema(schema[key])
  }
  for (const key of LISTS) {
    const parts = schema[key]
    if (Array.isArray(parts)) mapped[key] = parts.map(toPortable)
  }
  for (const key of NAMED) {
    if (isRecord(schema[key])) mapped[key] = mapFields(schema[key])
  }
  return mapped
}

function mapFields(fields: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(fields).map(([name, it]) => [name, toPortable(it)]))
}

function toPortable(schema: unknown): unknown {
  return isRecord(schema) ? toPortableSchema(schema) : schema
}

/** Whether a part of a schema is one, or a table of some. */
export function isRecord(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
