import {
  parseProviderRef,
  type WorkspaceCapabilityFlags,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import * as z from 'zod'
import { IN_MEMORY_KIND } from './config.ts'

/** Version of the refs that are written. */
export const REF_SCHEMA_VERSION = 1

const payloadSchema = z.strictObject({ id: z.string().min(1).max(128) })

/** A pointer to a workspace of this process. */
export function createRef(id: string, capabilities: WorkspaceCapabilityFlags): WorkspaceRef {
  return {
    providerId: IN_MEMORY_KIND,
    schemaVersion: REF_SCHEMA_VERSION,
    capabilities,
    ref: { id },
  }
}

/** @throws {WorkspaceFailedError} `ref-invalid`, `ref-version`. */
export function readRef(ref: WorkspaceRef): string {
  return parseProviderRef({
    ref,
    providerId: IN_MEMORY_KIND,
    schemaVersion: REF_SCHEMA_VERSION,
    schema: payloadSchema,
  }).id
}
