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
