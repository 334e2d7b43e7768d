import type { FileSystem } from '@helix-agents/core/provider'

/** Of the release before this one: a key for each note, `note:` and its title. */
const PREFIX = 'note:'

/** The part of `ctx.storage` that held the notes. */
export interface OldNotes {
  list(options: { readonly prefix: string }): Promise<ReadonlyMap<string, unknown>>
  delete(key: string): Promise<unknown>
}

/**
 * Makes files of the notes that an object has under keys. A note is written before its key is
 * deleted: cut off in between, it is written again and the same.
 */
export async function moveOldNotes(
  notes: OldNotes,
  openFiles: () => Promise<FileSystem>,
): Promise<number> {
  const old = await notes.list({ prefix: PREFIX })
  if (old.size === 0) return 0
  const files = await openFiles()
  for (const [key, text] of old) {
    await files.writeFile(pathOf(key), new TextEncoder().encode(String(text)))
    await notes.delete(key)
  }
  return old.size
}

/** Two titles never share a file. */
function pathOf(key: string): string {
  return `/findings/${encodeURIComponent(key.slice(PREFIX.length))}.md`
}
