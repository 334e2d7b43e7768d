import { WorkspaceFailedError } from '@helix-agents/core'
import {
  parseProviderRef,
  type WorkspaceCapabilityFlags,
  type WorkspaceRef,
} from '@helix-agents/core/provider'
import * as z from 'zod'
import { SANDBOX_ID, SANDBOX_KIND } from './config.ts'
import { isForkId } from './sandbox-id.ts'

/** Version of the refs that are written. */
export const REF_SCHEMA_VERSION = 1

/** What a date can be. */
const LAST_MS = 8_640_000_000_000_000
const timeMs = z.number().int().nonnegative().max(LAST_MS)

/** A backup, as a driver gave it, and when it was taken. */
export const storedSnapshotSchema = z.strictObject({
  takenAtMs: timeMs,
  backup: z.strictObject({
    id: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
    directory: z.string().min(1).max(4096).startsWith('/'),
    expiresAtMs: timeMs,
    local: z.boolean(),
    totalBytes: z.number().int().nonnegative().exactOptional(),
    members: z.number().int().nonnegative().exactOptional(),
  }),
})

export type StoredSnapshot = z.output<typeof storedSnapshotSchema>

const payloadSchema = z.strictObject({
  /** Line of the platform: the files of one are out of reach of the other. */
  line: z.enum(['0.12', '1.0']),
  sandbox: z.string().regex(SANDBOX_ID),
  /** Hash of the session and the workspace it is of; null: shared, or a fork that is not used yet. */
  owner: z
    .string()
    .regex(/^[a-z2-7]{32}$/)
    .nullable(),
  /** A declared id, for several sessions. */
  isShared: z.boolean(),
  /** First fence: new with each life of the sandbox. */
  lifetime: z.string().regex(/^[0-9a-f]{32}$/),
  /** Second fence: new with each disk of the container; null: a fork that is not made yet. */
  epoch: z.string().min(1).max(256).nullable(),
  /** When the container was last seen, within a few minutes. */
  seenMs: timeMs,
  /** The last snapshot, or the one that a fork is made of. */
  snapshot: storedSnapshotSchema.nullable(),
})

/** The provider's own part of a ref. */
export type SandboxRef = z.output<typeof payloadSchema>

/** A pointer to a sandbox; holds no configuration and no secret. */
export function toRef(payload: SandboxRef, capabilities: WorkspaceCapabilityFlags): WorkspaceRef {
  return {
    providerId: SANDBOX_KIND,
    schemaVersion: REF_SCHEMA_VERSION,
    capabilities,
    ref: payload,
  }
}

/** @throws {WorkspaceFailedError} `ref-invalid`, `ref-version`. */
export function readRef(ref: WorkspaceRef): SandboxRef {
  return parseProviderRef({
    ref,
    providerId: SANDBOX_KIND,
    schemaVersion: REF_SCHEMA_VERSION,
    schema: payloadSchema,
  })
}

/** Who asks for a sandbox. */
export interface Claimant {
  /** Hash of its session and workspace. */
  readonly owner: string
  /** The sandbox that its declaration means. */
  readonly sandbox: string
  readonly isShared: boolean
}

/**
 * A ref opens only what its session could open: its own sandbox, its own fork, one that it
 * shares, or a fork that was not used.
 * @throws {WorkspaceFailedError} `ref-invalid`.
 */
export function assertClaim(payload: SandboxRef, claimant: Claimant): void {
  const { owner, isShared, sandbox, epoch } = payload
  if (isShared) {
    const isMade = owner === null && epoch !== null
    if (isMade && claimant.isShared && sandbox === claimant.sandbox) return
    throw notOwn('is of a sandbox that the workspace does not share')
  }
  if (sandbox !== claimant.sandbox && !isForkId(sandbox)) throw notOwn('names another sandbox')
  if (!isOwn(payload, claimant)) throw notOwn('is of another session')
}

/**
 * What a session may free: its own sandboxes, forks included, whether they were made or not.
 * @throws {WorkspaceFailedError} `ref-invalid`.
 */
export function assertReleasable(payload: SandboxRef, claimant: Claimant): void {
  const { owner, sandbox } = payload
  const isNamed = sandbox === claimant.sandbox || isForkId(sandbox)
  if (!isNamed) throw notOwn('names another sandbox')
  if (owner !== claimant.owner && !isNewFork(payload)) throw notOwn('is of another session')
}

function isOwn(payload: SandboxRef, claimant: Claimant): boolean {
  if (payload.owner === null) return isNewFork(payload)
  return payload.owner === claimant.owner && payload.epoch !== null
}

/** It was not used: its sandbox is not made yet. */
function isNewFork({ sandbox, epoch, snapshot }: SandboxRef): boolean {
  return isForkId(sandbox) && epoch === null && snapshot !== null
}

function notOwn(problem: string): WorkspaceFailedError {
  return new WorkspaceFailedError('ref-invalid', `the stored ref ${problem}`)
}
