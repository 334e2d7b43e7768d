import { isRecord, type JsonSchema } from '../json-schema.ts'

/**
 * Puts right what models get wrong although its meaning is plain: `null` for a field that may be
 * left out, numbers and booleans in quotes, an object or a list as JSON text. Everything else
 * stays as it is, for the schema to judge.
 */
export function repairInput(input: unknown, parameters: JsonSchema): unknown {
  const isNothing = input === undefined || input === null
  const isBlank = typeof input === 'string' && input.trim() === ''
  return isNothing || isBlank ? {} : repair(input, parameters)
}

function repair(value: unknown, schema: unknown): unknown {
  if (!isRecord(schema)) return value
  if (typeof value === 'string') return repairText(value, schema)
  if (Array.isArray(value)) return value.map((item) => repair(item, schema['items']))
  return isRecord(value) ? repairFields(value, schema) : value
}

function repairText(text: string, schema: JsonSchema): unknown {
  const types = typesOf(schema)
  if (types.length === 0 || types.includes('string')) return text
  const value = parseJson(text)
  return kindsOf(value).some((kind) => types.includes(kind)) ? repair(value, schema) : text
}

/** The types of JSON Schema that a value in quotes can be meant as. */
function kindsOf(value: unknown): readonly string[] {
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number']
  if (typeof value === 'boolean') return ['boolean']
  if (Array.isArray(value)) return ['array']
  return isRecord(value) ? ['object'] : []
}

function repairFields(fields: JsonSchema, schema: JsonSchema): unknown {
  const { properties, required } = schema
  if (!isRecord(properties)) return fields
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  const kept = Object.entries(fields).flatMap(([key, value]) => {
    const field = Object.hasOwn(properties, key) ? properties[key] : undefined
    const isSpare = value === null && isRecord(field) && !needed.includes(key) && !hasNull(field)
    return isSpare ? [] : [[key, repair(value, field)] as const]
  })
  return Object.fromEntries(kept)
}

/** Whether a field may be `null`, or does not say. */
function hasNull(field: JsonSchema): boolean {
  const types = typesOf(field)
  return types.length === 0 || types.includes('null')
}

function typesOf({ type }: JsonSchema): readonly unknown[] {
  if (Array.isArray(type)) return type
  return typeof type === 'string' ? [type] : []
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
