import type { Logger } from '@helix-agents/core'
import type { Namespace } from './namespaces/namespaces.ts'
import type { ObjectStore } from './objects/object-store.ts'
import type { Database } from './sql/database.ts'
import type { SharedState } from './shared-state.ts'

/** Bounds of one workspace. */
export interface StoreLimits {
  /** All files of the namespace together. */
  readonly maxBytes: number
  /** Files and directories of the namespace together. */
  readonly maxFiles: number
  /** One file. */
  readonly maxFileBytes: number
  /** Larger files are read only as streams. */
  readonly maxWholeReadBytes: number
}

/** What the parts of one file system work with. */
export interface StoreContext {
  readonly database: Database
  readonly namespace: Namespace
  readonly limits: StoreLimits
  readonly shared: SharedState
  /** Undefined without a bucket: every content stays in the database. */
  readonly objects: ObjectStore | undefined
  /** A content that is larger goes to the bucket. */
  readonly inlineThresholdBytes: number
  /** Size of an object, and most of a stream that is in memory at once. */
  readonly partBytes: number
  /** How long an object that nothing refers to is kept. */
  readonly collectionGraceMs: number
  readonly logger: Logger
  now(): number
  /**
   * Something may be collected, a grace period from now. Asked before the change that makes it is
   * committed: a crash at any point leaves nothing behind without an alarm.
   */
  onGarbage(): void
}

/** What work on contents needs, whoever they belong to. */
export type ContentContext = Pick<StoreContext, 'database' | 'collectionGraceMs' | 'now'>
