import type { FileLedgerSnapshot } from '../modules/fs/ledger/file-ledger.ts'
import type { RegistryEntry } from './registry-entry.ts'

/** The ledgers that changed, or were begun anew, since the last call; undefined when none did. */
export function takeChangedLedgers(
  entries: Iterable<RegistryEntry>,
): Readonly<Record<string, FileLedgerSnapshot>> | undefined {
  const changed: [string, FileLedgerSnapshot][] = []
  for (const entry of entries) {
    const snapshot = entry.ledger.takeChanges() ?? (entry.isLedgerNew && entry.ledger.snapshot())
    if (!snapshot) continue
    changed.push([entry.name, snapshot])
    entry.isLedgerNew = false
  }
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}
