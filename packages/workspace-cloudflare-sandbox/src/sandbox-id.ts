import { WorkspaceFailedError } from '@helix-agents/core'
import { type CloudflareSandboxConfig, DERIVED_ID_PREFIX } from './config.ts'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const HASH_BYTES = 20
const NONCE_BYTES = 8

/** 160 bits of SHA-256 over the parts, as 32 lowercase characters. No two lists of parts are one. */
export async function hashParts(...parts: readonly string[]): Promise<string> {
  const text = JSON.stringify(parts)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return encodeBase32(new Uint8Array(digest, 0, HASH_BYTES))
}

/**
 * The sandbox that an open is about: the shared one that is declared, or one for this session and
 * this workspace alone. Session ids may be long and hold anything; the hash fits and is unique.
 * @throws {WorkspaceFailedError} `sharing-not-declared`.
 */
export async function sandboxIdOf(
  config: CloudflareSandboxConfig,
  sessionId: string,
  workspace: string,
): Promise<string> {
  if (config.id === undefined) {
    return DERIVED_ID_PREFIX + (await hashParts('sandbox', sessionId, workspace))
  }
  if (config.shareAcrossSessions === true) return config.id
  throw new WorkspaceFailedError(
    'sharing-not-declared',
    `a sandbox id is shared by all sessions of this agent, which workspace "${workspace}" does not allow`,
    { hint: 'An operator must set shareAcrossSessions: true next to id, or remove id.' },
  )
}

const FORK_ID = /^hx-[a-z2-7]{32}-(?:restored|branch)-[0-9a-f]{16}$/

/** Whether {@link forkId} has made an id: no other workspace has the sandbox of one. */
export function isForkId(id: string): boolean {
  return FORK_ID.test(id)
}

/** A new id for a fork, never the same twice. Forks of forks do not get longer. */
export async function forkId(origin: string, kind: 'restored' | 'branch'): Promise<string> {
  const [derived = ''] = /^hx-[a-z2-7]{32}/.exec(origin) ?? []
  const base = derived === '' ? DERIVED_ID_PREFIX + (await hashParts('fork', origin)) : derived
  return `${base}-${kind}-${randomHex(NONCE_BYTES)}`
}

/** Random bytes as lowercase hexadecimal digits. */
export function randomHex(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)))
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Of bytes in fives: eight characters each. */
function encodeBase32(bytes: Uint8Array): string {
  const base = ALPHABET.length
  const digits = BigInt(`0x${toHex(bytes)}`).toString(base)
  const all = digits.padStart((bytes.length / 5) * 8, '0')
  return all.replaceAll(/./g, (digit) => ALPHABET.charAt(Number.parseInt(digit, base)))
}
