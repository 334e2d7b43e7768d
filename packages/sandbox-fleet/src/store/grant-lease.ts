import type { LeaseRequest } from './fleet-store.ts'

/** A lease as it is stored. */
export interface StoredLease {
  readonly holder: string
  readonly token: number
  /** Milliseconds since the epoch. */
  readonly until: number
}

/**
 * The lease after a request; undefined while another holder has it. One that reaches much further
 * than a lease can was granted by a clock that is wrong: it would keep all others out for as long. To
 * replace it is safe, since every write is checked against the token.
 */
export function grantLease(
  lease: StoredLease | undefined,
  { holder, ttlMs, now }: LeaseRequest,
): StoredLease | undefined {
  const until = now + ttlMs
  if (lease === undefined) return { holder, token: 1, until }
  const isRunning = lease.until > now && lease.until - now <= 2 * ttlMs
  if (!isRunning) return { holder, token: lease.token + 1, until }
  return lease.holder === holder ? { ...lease, until } : undefined
}
