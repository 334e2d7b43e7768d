/** A JSON Schema object, as models receive it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A value that JSON can hold. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }

/** Whether a value is an object with fields, as a schema and the arguments of a call are. */
export function isRecord(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
