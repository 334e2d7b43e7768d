/**
 * What a test needs of the Miniflare underneath. The type is our own, so that a project that uses
 * the test bed needs no types of Miniflare; the object is the real one.
 */
export interface TestbedMiniflare {
  /**
   * The bindings of the Worker, usable from Node.
   *
   * @typeParam Env their types, as `wrangler types` writes them.
   */
  getBindings<Env = Record<string, unknown>>(): Promise<Env>
  /** The Worker itself. */
  getWorker(): Promise<TestbedWorker>
  /** The Durable Objects of a binding. */
  getDurableObjectNamespace(bindingName: string): Promise<TestbedNamespace>
  /** Ids of the Durable Objects that ever stored something. */
  listDurableObjectIds(classNameOrBindingName: string): Promise<string[]>
  /** The R2 bucket of a binding. */
  getR2Bucket(bindingName: string): Promise<TestbedBucket>
}

/** The Worker under test, for what is not a request over the network. */
export interface TestbedWorker {
  /** Has a cron trigger ring, and waits for what it does. */
  scheduled(options?: {
    readonly scheduledTime?: Date
    readonly cron?: string
  }): Promise<{ readonly outcome: string }>
}

/** The Durable Objects of one class. */
export interface TestbedNamespace {
  /** The id that a name becomes. */
  idFromName(name: string): { toString(): string }
}

/** An R2 bucket. */
export interface TestbedBucket {
  /** What is in the bucket, at most 1000 objects at once. */
  list(options?: {
    readonly prefix?: string
    readonly limit?: number
    readonly cursor?: string
  }): Promise<{ readonly objects: readonly TestbedBucketObject[]; readonly truncated: boolean }>
  /** An object without its content; null when there is none. */
  head(key: string): Promise<TestbedBucketObject | null>
  /** An object; null when there is none. */
  get(key: string): Promise<(TestbedBucketObject & TestbedBucketContent) | null>
  put(key: string, value: string | ArrayBuffer): Promise<TestbedBucketObject>
  delete(keys: string | string[]): Promise<void>
}

/** An object of a bucket. */
export interface TestbedBucketObject {
  readonly key: string
  /** Bytes. */
  readonly size: number
  readonly etag: string
}

/** The content of an object, to be read once. */
export interface TestbedBucketContent {
  text(): Promise<string>
  arrayBuffer(): Promise<ArrayBuffer>
}
