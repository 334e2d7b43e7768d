import { WorkspaceFailedError } from '@helix-agents/core'
import {
  parseProviderRef,
  type SnapshotRef,
  type WorkspaceCapabilityFlags,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import * as z from 'zod'
import { FILE_STORE_KIND } from './config.ts'

/** Version of the refs that are written. */
export const REF_SCHEMA_VERSION = 1

/** An id is never given twice, so a ref to removed files never meets files made later. */
const payloadSchema = z.strictObject({ id: z.string().regex(/^fs-[0-9a-f]{32}$/) })

/** A pointer to the files of a namespace. */
export function createRef(id: string, capabilities: WorkspaceCapabilityFlags): WorkspaceRef {
  return {
    providerId: FILE_STORE_KIND,
    schemaVersion: REF_SCHEMA_VERSION,
    capabilities,
    ref: { id },
  }
}

const snapshotSchema = payloadSchema.extend({ schemaVersion: z.literal(1) })

/** A pointer to the files of a snapshot. */
export function createSnapshotRef(id: string): SnapshotRef {
  return { providerId: FILE_STORE_KIND, ref: { schemaVersion: 1, id } }
}

/** @throws {WorkspaceFailedError} `ref-invalid` */
export function readSnapshotRef({ providerId, ref }: SnapshotRef): string {
  const parsed = snapshotSchema.safeParse(ref)
  if (providerId === FILE_STORE_KIND && parsed.success) return parsed.data.id
  throw new WorkspaceFailedError(
    'ref-invalid',
    'that is not a snapshot of this kind of workspace',
    {
      hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      cause: parsed.error,
    },
  )
}

/** @throws {WorkspaceFailedError} `ref-invalid`, `ref-version`. */
export function readRef(ref: WorkspaceRef): string {
  return parseProviderRef({
    ref,
    providerId: FILE_STORE_KIND,
    schemaVersion: REF_SCHEMA_VERSION,
    schema: payloadSchema,
  }).id
}
