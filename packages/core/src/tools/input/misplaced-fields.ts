import { isRecord, type JsonSchema } from '../json-schema.ts'

/** How deep arguments are looked through. */
const MAX_DEPTH = 4
/** Of the fields that are named. */
const MAX_NAMED = 5

type Path = readonly string[]

/**
 * Says where fields belong that a tool does not take where the model has put them, such as one of
 * `opts` beside it. Only those that the schema has in exactly one other place.
 */
export function hintOfMisplaced(input: unknown, parameters: JsonSchema): string | undefined {
  const known = fieldsOf(parameters)
  const moves = unknownFields(input, parameters).flatMap((from) => {
    const places = known.filter((path) => path.at(-1) === from.at(-1))
    const [to] = places
    return to === undefined || places.length > 1 ? [] : [`${from.join('.')} as ${to.join('.')}`]
  })
  if (moves.length === 0) return undefined
  return `Give ${moves.slice(0, MAX_NAMED).join(', ')}.`
}

/** The paths of all fields that the schema names. */
function fieldsOf(schema: unknown, path: Path = []): readonly Path[] {
  if (path.length >= MAX_DEPTH) return []
  return Object.entries(propertiesOf(schema) ?? {}).flatMap(([key, field]) => {
    const own = [...path, key]
    return [own, ...fieldsOf(field, own)]
  })
}

/** The paths of fields that are given and that the schema rejects. */
function unknownFields(value: unknown, schema: unknown, path: Path = []): readonly Path[] {
  const properties = propertiesOf(schema)
  if (!isRecord(value) || properties === undefined || path.length >= MAX_DEPTH) return []
  const isStrict = isRecord(schema) && schema['additionalProperties'] === false
  return Object.entries(value).flatMap(([key, field]) => {
    const own = [...path, key]
    if (Object.hasOwn(properties, key)) return unknownFields(field, properties[key], own)
    return isStrict ? [own] : []
  })
}

function propertiesOf(schema: unknown): JsonSchema | undefined {
  const properties = isRecord(schema) ? schema['properties'] : undefined
  return isRecord(properties) ? properties : undefined
}
