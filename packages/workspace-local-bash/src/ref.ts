import {
  parseProviderRef,
  type WorkspaceCapabilityFlags,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import * as z from 'zod'
import { isolationSchema } from './config.ts'

export const PROVIDER_ID = 'local-bash'
export const REF_SCHEMA_VERSION = 1
export const CAPABILITIES: WorkspaceCapabilityFlags = {
  fs: true,
  shell: true,
  code: true,
  snapshot: true,
  branch: true,
}

/** Names of workspace directories; no other name is ever opened or removed. */
export const DIRECTORY_PATTERN = /^helix-ws-[A-Za-z0-9]{6,64}$/

const refSchema = z.strictObject({
  /** Name in the directory of all workspaces, which a ref cannot choose. */
  directory: z.string().regex(DIRECTORY_PATTERN),
  /** Kept in the ref, which the workspace cannot reach: resolving never weakens it. */
  isolation: isolationSchema,
})

export type LocalBashRef = z.output<typeof refSchema>

export function toRef(ref: LocalBashRef): WorkspaceRef {
  return {
    providerId: PROVIDER_ID,
    schemaVersion: REF_SCHEMA_VERSION,
    capabilities: CAPABILITIES,
    ref: { directory: ref.directory, isolation: ref.isolation },
  }
}

/** @throws {WorkspaceFailedError} `ref-invalid`, `ref-version`. */
export function parseRef(ref: WorkspaceRef): LocalBashRef {
  return parseProviderRef({
    ref,
    providerId: PROVIDER_ID,
    schemaVersion: REF_SCHEMA_VERSION,
    schema: refSchema,
  })
}
