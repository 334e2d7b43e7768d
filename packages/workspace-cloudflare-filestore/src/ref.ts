import {
  parseProviderRef,
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

/** @throws {WorkspaceFailedError} `ref-invalid`, `ref-version`. */
export function readRef(ref: WorkspaceRef): string {
  return parseProviderRef({
    ref,
    providerId: FILE_STORE_KIND,
    schemaVersion: REF_SCHEMA_VERSION,
    schema: payloadSchema,
  }).id
}
