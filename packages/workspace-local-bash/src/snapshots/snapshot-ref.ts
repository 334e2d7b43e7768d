import { WorkspaceFailedError } from '@helix-agents/core'
import type { SnapshotRef } from '@helix-agents/core/provider'
import * as z from 'zod'
import { PROVIDER_ID } from '../ref.ts'
import { MAX_LOST_CHARACTERS } from './snapshot-losses.ts'

const payloadSchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** Scope of the store. */
  line: z.string().regex(/^[0-9a-f]{32}$/),
  id: z.string().regex(/^[0-9a-f]{32}$/),
  /** Of all entries: what is stored cannot change without notice. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  /** What the snapshot does not hold, for the receipt of a restore. Absent: it holds everything. */
  lost: z.string().max(MAX_LOST_CHARACTERS).exactOptional(),
})

/** What a snapshot ref of this provider holds. */
export type SnapshotPayload = z.output<typeof payloadSchema>

export function toSnapshotRef(payload: Omit<SnapshotPayload, 'schemaVersion'>): SnapshotRef {
  return { providerId: PROVIDER_ID, ref: { schemaVersion: 1, ...payload } }
}

/** @throws {WorkspaceFailedError} `ref-invalid` */
export function parseSnapshotRef({ providerId, ref }: SnapshotRef): SnapshotPayload {
  const parsed = payloadSchema.safeParse(ref)
  if (providerId === PROVIDER_ID && parsed.success) return parsed.data
  throw new WorkspaceFailedError(
    'ref-invalid',
    'that is not a snapshot of this kind of workspace',
    {
      hint: 'Give the ref as the snapshot tool returned it, whole and unchanged.',
      cause: parsed.error,
    },
  )
}
