/** First bytes of a squashfs archive: magic number, then the number of inodes. */
const HEAD_BYTES = 8
const MAGIC = 0x73717368

/**
 * Number of files and directories in the archive of a backup, read from its first bytes.
 * `undefined` when it is of another format, or not there: then the SDK says so.
 */
export async function readArchiveHead(
  bucket: R2Bucket,
  backupId: string,
): Promise<{ readonly members: number } | undefined> {
  const range = { offset: 0, length: HEAD_BYTES }
  const object = await bucket.get(`backups/${backupId}/data.sqsh`, { range })
  if (object === null) return undefined
  const bytes = await object.arrayBuffer()
  if (bytes.byteLength < HEAD_BYTES) return undefined
  const view = new DataView(bytes)
  if (view.getUint32(0, true) !== MAGIC) return undefined
  // The directory itself is one of the inodes.
  return { members: Math.max(0, view.getUint32(4, true) - 1) }
}
