import { WorkspaceFailedError } from '@helix-agents/core'
import { utf8Length } from '@helix-agents/core/provider'

/** Longest key of an R2 object, in UTF-8 bytes. */
export const MAX_KEY_BYTES = 1024
/** `/fs-<32>/<64>.<row>` of the largest row. */
const TAIL_BYTES = 1 + 35 + 1 + 64 + 1 + 16

/** Longest prefix of keys, in UTF-8 bytes. */
export const MAX_KEY_PREFIX_BYTES = MAX_KEY_BYTES - TAIL_BYTES

/**
 * A prefix that leaves room for the rest of a key.
 * @throws {WorkspaceFailedError} `config-invalid`.
 */
export function checkKeyPrefix(prefix: string): string {
  const isFine = prefix !== '' && !prefix.startsWith('/') && !prefix.endsWith('/')
  if (isFine && prefix.isWellFormed() && utf8Length(prefix) <= MAX_KEY_PREFIX_BYTES) return prefix
  throw new WorkspaceFailedError(
    'config-invalid',
    `r2Prefix must be 1 to ${MAX_KEY_PREFIX_BYTES} bytes without a slash at its ends`,
  )
}

/** Where an object is kept. Its row makes the key its own: no late delete ever meets a newer one. */
export function objectKey(
  prefix: string,
  namespace: string,
  object: { readonly hash: string; readonly id: number },
): string {
  return `${prefix}/${namespace}/${object.hash}.${object.id}`
}

/** SHA-256 in hexadecimal. */
export async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
