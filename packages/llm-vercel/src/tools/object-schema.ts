import type { JsonSchema } from '@helix-agents/core'
import { isRecord, toPortableSchema } from './portable-schema.ts'

/**
 * Arguments as providers take them: OpenAI and Anthropic want an object at the top and no `anyOf`,
 * `oneOf` or `allOf` there. A union of objects becomes one object with the fields of all; the
 * schema of the tool still judges what the model gives.
 */
export function toObjectSchema(schema: JsonSchema): JsonSchema {
  return toObject(toPortableSchema(schema))
}

function toObject(schema: JsonSchema): JsonSchema {
  const branches = branchesOf(schema)
  if (branches === undefined) {
    return schema['type'] === 'object' ? schema : { properties: {}, ...schema, type: 'object' }
  }
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = schema
  const own = { type: 'object', properties: fieldsOf(rest), required: requiredOf(rest) }
  const isAll = schema['allOf'] !== undefined
  const merged = branches.reduce<Merged>((all, branch) => merge(all, branch, isAll), own)
  const required = isAll ? merged.required : [...own.required, ...sharedBy(branches)]
  return { ...rest, type: 'object', properties: merged.properties, required: unique(required) }
}

interface Merged {
  readonly properties: Readonly<Record<string, unknown>>
  readonly required: readonly string[]
}

/** The parts of a union or an intersection; `undefined` for any other schema. */
function branchesOf(schema: JsonSchema): readonly JsonSchema[] | undefined {
  const parts = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']
  return Array.isArray(parts) ? parts.filter(isRecord).map(toObject) : undefined
}

function merge(all: Merged, branch: JsonSchema, isAll: boolean): Merged {
  const properties = { ...all.properties }
  for (const [name, field] of Object.entries(fieldsOf(branch))) {
    const known = properties[name]
    properties[name] = known === undefined || isAll ? field : eitherOf(known, field)
  }
  return { properties, required: [...all.required, ...requiredOf(branch)] }
}

/** A field that means different things in two branches of a union. */
function eitherOf(known: unknown, field: unknown): unknown {
  if (JSON.stringify(known) === JSON.stringify(field)) return known
  const variants = isRecord(known) && isMerged(known) ? known['anyOf'] : [known]
  return { anyOf: [...variants, field] }
}

function isMerged(
  schema: JsonSchema,
): schema is JsonSchema & { readonly anyOf: readonly unknown[] } {
  return Object.keys(schema).length === 1 && Array.isArray(schema['anyOf'])
}

/** The fields that every branch needs. */
function sharedBy(branches: readonly JsonSchema[]): readonly string[] {
  const [first, ...rest] = branches
  if (first === undefined) return []
  return requiredOf(first).filter((name) => rest.every((it) => requiredOf(it).includes(name)))
}

function fieldsOf({ properties }: JsonSchema): Readonly<Record<string, unknown>> {
  return isRecord(properties) ? properties : {}
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
