import type { FileSystem } from '@helix-agents/core/provider'
import type { FileStoreStorage } from '@helix-agents/workspace-cloudflare-filestore'

/** A file or directory as a reader finds it. */
export interface Found {
  /** Type, size and a sum of the bytes. */
  readonly content: string
  /** The counter within its version. */
  readonly version: number
}

export type Tree = ReadonlyMap<string, Found>

/** Every path below a directory; reads each file in whole, by stream and as its size says. */
export async function treeOf(fs: FileSystem, directory = '/'): Promise<Map<string, Found>> {
  const tree = new Map<string, Found>()
  for (const entry of await fs.ls(directory)) {
    const { version, size } = await fs.stat(entry.path)
    const counter = Number(version.split('.').at(-1))
    if (entry.type === 'directory') {
      tree.set(entry.path, { content: 'directory', version: counter })
      for (const [path, found] of await treeOf(fs, entry.path)) tree.set(path, found)
      continue
    }
    const bytes = await fs.readFile(entry.path)
    if (bytes.length !== size) throw new Error(`${entry.path}: ${bytes.length} of ${size} bytes`)
    const sum = await sumOf(bytes)
    const streamed = await sumOf(await collected(await fs.readStream(entry.path)))
    if (streamed !== sum) throw new Error(`${entry.path}: its stream differs`)
    tree.set(entry.path, { content: `file ${size} ${sum}`, version: counter })
  }
  return tree
}

export async function collected(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

/** The tree without versions. */
export function shapeOf(tree: Tree): Record<string, string> {
  return Object.fromEntries([...tree].map(([path, found]) => [path, found.content]))
}

/** Paths whose content changed without a newer version, or whose version went back. */
export function staleVersions(before: Tree, after: Tree): string[] {
  return [...after].flatMap(([path, now]) => {
    const was = before.get(path)
    if (was === undefined) return []
    const isFine =
      now.content === was.content ? now.version >= was.version : now.version > was.version
    return isFine ? [] : [`${path}: ${was.version} → ${now.version}`]
  })
}

async function sumOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', bytes)
  return [...new Uint8Array(digest, 0, 8)].join('.')
}

/** Counts that disagree with what is there, and rows that belong to nothing. All must be 0. */
const FAULTS = `SELECT
  (SELECT count(*) FROM helix_fs_namespaces s WHERE files <> (
    SELECT count(*) FROM helix_fs_nodes n WHERE n.namespace = s.id)) AS file_counts,
  (SELECT count(*) FROM helix_fs_namespaces s WHERE bytes <> (
    SELECT coalesce(sum(size), 0) FROM helix_fs_nodes n WHERE n.namespace = s.id)) AS byte_counts,
  (SELECT count(*) FROM helix_fs_nodes n WHERE NOT EXISTS (
    SELECT 1 FROM helix_fs_namespaces s WHERE s.id = n.namespace)) AS homeless_nodes,
  (SELECT count(*) FROM helix_fs_nodes n WHERE directory <> '/' AND NOT EXISTS (
    SELECT 1 FROM helix_fs_nodes p WHERE p.namespace = n.namespace AND p.content IS NULL
      AND p.directory || p.name || '/' = n.directory)) AS nodes_without_parent,
  (SELECT count(*) FROM helix_fs_nodes n WHERE content IS NOT NULL AND (
    size <> (SELECT coalesce(sum(size), 0) FROM helix_fs_blocks b
      WHERE b.id >= n.content AND b.id < n.content + n.blocks)
    OR blocks <> (SELECT count(*) FROM helix_fs_blocks b
      WHERE b.id >= n.content AND b.id < n.content + 1048576))) AS incomplete_files,
  (SELECT count(*) FROM helix_fs_blocks b WHERE object IS NULL AND size <> length(data))
    AS damaged_blocks,
  (SELECT count(*) FROM helix_fs_blocks b WHERE NOT EXISTS (
    SELECT 1 FROM helix_fs_nodes n
    WHERE b.id >= n.content AND b.id < n.content + n.blocks)) AS stray_blocks,
  (SELECT count(*) FROM helix_fs_unlinked) AS loose,
  (SELECT count(*) FROM (SELECT content FROM helix_fs_nodes n WHERE content IS NOT NULL
    AND flags & 1 = 0 GROUP BY content HAVING count(*) > 1)) AS unmarked_shares,
  (SELECT count(*) FROM helix_fs_shares s WHERE refs <> (
    SELECT count(*) FROM helix_fs_nodes n WHERE n.content = s.content)) AS share_counts,
  (SELECT count(*) FROM helix_fs_objects o WHERE refs <> (
    SELECT count(*) FROM helix_fs_blocks b WHERE b.object = o.id)) AS object_counts,
  (SELECT count(*) FROM helix_fs_blocks b WHERE object IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM helix_fs_objects o WHERE o.id = b.object AND o.state = 'stored'))
    AS missing_objects,
  (SELECT count(*) FROM helix_fs_objects WHERE refs = 0) AS garbage_objects,
  (SELECT count(*) FROM helix_fs_nodes n, helix_fs_state c WHERE n.version > c.version)
    AS versions_ahead`

/** What is wrong in the database after a collection that ran to its end; empty when nothing is. */
export function databaseFaults(storage: FileStoreStorage): string[] {
  const [row = {}] = storage.sql.exec(FAULTS).toArray()
  return Object.entries(row).flatMap(([name, count]) =>
    count === 0 ? [] : [`${name}: ${Number(count)}`],
  )
}

/** Objects in the bucket that no file needs, and those that a file needs and that are not there. */
export async function bucketFaults(
  storage: FileStoreStorage,
  bucket: R2Bucket,
  prefix: string,
): Promise<string[]> {
  const { objects } = await bucket.list({ prefix: `${prefix}/` })
  const present = new Set(objects.map((object) => object.key))
  const needed = new Set(
    storage.sql
      .exec('SELECT key FROM helix_fs_objects WHERE refs > 0')
      .toArray()
      .map((row) => row.key as string),
  )
  return [
    ...[...present].filter((key) => !needed.has(key)).map((key) => `orphan ${key}`),
    ...[...needed].filter((key) => !present.has(key)).map((key) => `missing ${key}`),
  ]
}
