import { parseScope, sha256, type SnapshotHeader } from '@helix-agents/core/provider'

/** Bytes of a name that its key holds; hexadecimal, in parts that every server takes. */
const NAME_BYTES = 400
const PART = 200
const TIME_DIGITS = 16
const LAST_TIME = 10 ** TIME_DIGITS - 1
const SNAPSHOT_ID = /^[A-Za-z0-9_-]{16,128}$/

/** Keys of one scope. */
export interface ScopeKeys {
  readonly name: string
  /** Says that the scope is there. Keys are sorted as the names are. */
  readonly marker: string
  readonly blocks: string
  readonly manifests: string
  /** Headers by age, the newest first. */
  readonly heads: string
  /** When blocks were stored or found. */
  readonly uses: string
  /** Manifests that are being stored. */
  readonly pending: string
  /** Blocks that a sweep is about to delete. */
  readonly condemned: string
}

/** @throws {RangeError} for a scope that is none. */
export async function keysOf(prefix: string, scope: string): Promise<ScopeKeys> {
  const name = parseScope(scope)
  const hash = await sha256(new TextEncoder().encode(name))
  const data = `${prefix}data/${hash}/`
  return {
    name,
    marker: `${prefix}scopes/${nameKey(name, hash)}`,
    blocks: `${data}blocks/`,
    manifests: `${data}manifests/`,
    heads: `${data}heads/`,
    uses: `${data}uses/`,
    pending: `${data}pending/`,
    condemned: `${data}condemned/`,
  }
}

/** `.` sorts before `/`, and both before digits: a name comes before those that begin with it. */
function nameKey(name: string, hash: string): string {
  const bytes = new TextEncoder().encode(name)
  const hex = Array.from(bytes.slice(0, NAME_BYTES), (byte) => byte.toString(16).padStart(2, '0'))
  const parts = hex.join('').match(new RegExp(`.{1,${PART}}`, 'g')) ?? []
  return bytes.length > NAME_BYTES ? `${parts.join('/')}/~${hash}` : `${parts.join('/')}.scope`
}

/** The name of a scope; undefined when only the object of its marker has it. */
export function nameInKey(key: string, prefix: string): string | undefined {
  const text = key.slice(`${prefix}scopes/`.length)
  if (!text.endsWith('.scope')) return undefined
  const hex = text.slice(0, -'.scope'.length).replaceAll('/', '')
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

export function headKey({ heads }: ScopeKeys, { createdAt, snapshotId }: SnapshotHeader): string {
  return `${heads}${String(LAST_TIME - createdAt).padStart(TIME_DIGITS, '0')}.${snapshotId}`
}

/** A key that no other call has, with the time of it. */
export function timedKey(folder: string, ms: number): string {
  return `${folder}${String(ms).padStart(TIME_DIGITS, '0')}-${crypto.randomUUID()}`
}

/** The time of a key; 0 for one that is not of this package. */
export function timeOf(key: string): number {
  const name = key.slice(key.lastIndexOf('/') + 1)
  return /^\d{16}-/.test(name) ? Number(name.slice(0, TIME_DIGITS)) : 0
}

export function isSnapshotId(text: string): boolean {
  return SNAPSHOT_ID.test(text)
}
