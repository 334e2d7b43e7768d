/** `partyserver` keeps the name of an object under it, as soon as it is asked for something. */
const NAME_KEY = '__ps_name'
const TABLES =
  "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' LIMIT 1"

/**
 * Leaves nothing behind of a request that was refused: only its name is stored. Another one may
 * just begin with that: `isNeeded` is asked at the last moment.
 */
export async function eraseUnusedObject(
  storage: DurableObjectStorage,
  isNeeded: () => boolean,
): Promise<void> {
  if ((await storage.getAlarm()) !== null) return
  // Nothing may come between the look and the removal.
  const isUnused =
    !isNeeded() &&
    storage.sql.exec(TABLES).toArray().length === 0 &&
    [...storage.kv.list({ limit: 2 })].every(([key]) => key === NAME_KEY)
  if (isUnused) await storage.deleteAll()
}
