import * as z from 'zod'
import { WorkspaceFailedError } from '../errors/workspace-failed-error.ts'
import { allCapabilityFlags } from '../modules/list.ts'
import { isObject } from './has-method.ts'
import { findForeignData } from './plain-json.ts'
import type { MovedWorkspace, WorkspaceRef } from './ref.ts'

const refSchema = z.strictObject({
  providerId: z.string().min(1).max(128),
  schemaVersion: z.number().int().nonnegative(),
  capabilities: z.strictObject(
    Object.fromEntries(allCapabilityFlags().map((flag) => [flag, z.boolean().optional()])),
  ),
  ref: z.unknown().refine((payload) => payload !== undefined, 'is missing'),
  moved: z
    .strictObject({
      provider: z.looseObject({ kind: z.string().min(1).max(128) }),
      notice: z.string().max(4096).optional(),
    })
    .optional(),
})

/**
 * Reads a stored ref strictly; the provider's own data is only checked for being plain JSON.
 * @throws {WorkspaceFailedError} `ref-invalid` for an unknown field, a prototype key, a wrong
 * type or a missing field.
 */
export function parseWorkspaceRef(value: unknown): WorkspaceRef {
  const foreign = findForeignData(value)
  if (foreign !== undefined) throw refInvalid([foreign])
  const result = refSchema.safeParse(value)
  if (!result.success) throw refInvalid(describeIssues(result.error))
  const { providerId, schemaVersion, capabilities, ref, moved } = result.data
  const given = Object.entries(capabilities).filter(([, flag]) => flag !== undefined)
  return {
    providerId,
    schemaVersion,
    capabilities: Object.fromEntries(given),
    ref,
    ...(moved !== undefined && { moved: toMoved(moved) }),
  }
}

function toMoved({
  provider,
  notice,
}: NonNullable<z.output<typeof refSchema>['moved']>): MovedWorkspace {
  return { provider, ...(notice !== undefined && { notice }) }
}

/** The ref that is parsed, and the format that the provider writes. */
export interface ProviderRefFormat<Schema extends z.ZodType> {
  readonly ref: WorkspaceRef
  readonly providerId: string
  /** The version N this provider writes. */
  readonly schemaVersion: number
  /** Shape of version N; strict, so that unknown fields are rejected. */
  readonly schema: Schema
  /** Turns the data of version N-1 into that of N. Absent: the shapes are the same. */
  readonly upcast?: (payload: unknown) => unknown
}

/**
 * Reads the provider's own data of a ref: version N-1 is upcast, N is read strictly, of N+1
 * the fields that N knows are read.
 * @throws {WorkspaceFailedError} `ref-version` outside that range, `ref-invalid` for another
 * provider's ref or a wrong shape.
 */
export function parseProviderRef<Schema extends z.ZodType>(
  format: ProviderRefFormat<Schema>,
): z.output<Schema> {
  const ref = parseWorkspaceRef(format.ref)
  if (ref.providerId !== format.providerId) {
    throw refInvalid([`providerId: is of provider ${ref.providerId}, not ${format.providerId}`])
  }
  const distance = ref.schemaVersion - format.schemaVersion
  if (Math.abs(distance) > 1) throw refVersion(ref.schemaVersion, format.schemaVersion)
  const payload = distance < 0 ? upcastPayload(format, ref.ref) : ref.ref
  const result =
    distance > 0 ? parseKnown(format.schema, payload) : format.schema.safeParse(payload)
  if (!result.success) throw refInvalid(describeIssues(result.error))
  return result.data
}

function upcastPayload<S extends z.ZodType>(format: ProviderRefFormat<S>, payload: unknown) {
  if (format.upcast === undefined) return payload
  try {
    return format.upcast(payload)
  } catch (cause) {
    throw new WorkspaceFailedError('ref-invalid', 'the stored ref of version N-1 cannot be read', {
      cause,
    })
  }
}

/** Drops the fields that the schema does not know, at every depth, then parses what is left. */
function parseKnown<S extends z.ZodType>(
  schema: S,
  payload: unknown,
): z.ZodSafeParseResult<z.output<S>> {
  const strict = schema.safeParse(payload)
  if (strict.success) return strict
  const known = structuredClone(payload)
  for (const issue of strict.error.issues) {
    if (issue.code !== 'unrecognized_keys') return strict
    dropKeys(known, issue.path, issue.keys)
  }
  return schema.safeParse(known)
}

function dropKeys(root: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  let target = root
  for (const step of path) target = isObject(target) ? Reflect.get(target, step) : undefined
  if (!isObject(target)) return
  for (const key of keys) Reflect.deleteProperty(target, key)
}

function describeIssues(error: z.ZodError): string[] {
  return error.issues.map((issue) => `${issue.path.join('.') || 'ref'}: ${issue.message}`)
}

function refInvalid(problems: readonly string[]): WorkspaceFailedError {
  const text = problems.join('; ')
  return new WorkspaceFailedError(
    'ref-invalid',
    `the stored ref of the workspace is not valid: ${text.length > 500 ? `${text.slice(0, 500)}…` : text}`,
  )
}

function refVersion(found: number, written: number): WorkspaceFailedError {
  const oldest = Math.max(0, written - 1)
  return new WorkspaceFailedError(
    'ref-version',
    `the stored ref has schemaVersion ${found}; supported are ${oldest} to ${written + 1}`,
    { hint: 'An operator must run a version of the provider that reads this ref.' },
  )
}
