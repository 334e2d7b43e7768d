/** A JSON Schema object, as models receive it. */
export type JsonSchema = Readonly<Record<string, unknown>>

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }
