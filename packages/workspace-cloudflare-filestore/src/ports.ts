/** What a column of a row holds. */
export type FileStoreSqlValue = ArrayBuffer | string | number | null

/** What a statement is given for a `?`. */
export type FileStoreSqlBinding = FileStoreSqlValue | Uint8Array

/** A row by the names of its columns. */
export type FileStoreSqlRow = Readonly<Record<string, FileStoreSqlValue>>

/** The part of `SqlStorage` that is used. */
export interface FileStoreSql {
  exec(statement: string, ...bindings: FileStoreSqlBinding[]): { toArray(): FileStoreSqlRow[] }
}

/** The part of `DurableObjectStorage` that is used: `ctx.storage` fits as it is. */
export interface FileStoreStorage {
  /** The same object wherever it is the same database: what is remembered of it goes with that. */
  readonly sql: FileStoreSql
  transactionSync<T>(work: () => T): T
}

/** A range of an object, in bytes. */
export interface ObjectRange {
  readonly offset: number
  readonly length: number
}

/** The content of an object. */
export interface ObjectBody {
  readonly body: ReadableStream<Uint8Array>
  arrayBuffer(): Promise<ArrayBuffer>
}

/** The part of `R2Bucket` that is used: a bucket binding fits as it is. */
export interface FileStoreBucket {
  head(key: string): Promise<object | null>
  get(key: string, options?: { range?: ObjectRange }): Promise<ObjectBody | null>
  /** With `sha256` in hexadecimal, the bucket rejects content that arrives damaged. */
  put(key: string, value: Uint8Array, options?: { sha256?: string }): Promise<unknown>
  /** At most 1,000 keys; one that is not there is no error. */
  delete(keys: string[]): Promise<void>
}
