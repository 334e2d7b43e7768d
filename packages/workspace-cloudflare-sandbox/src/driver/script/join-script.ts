import { compose } from './compose.ts'

/** Exit code when what came before is gone: it was removed, or the container is another one. */
export const LOST = 3

export interface Join {
  readonly path: string
  /** A file that is added to it, and is no more afterwards. */
  readonly part: string
  /** Bytes of `path` that came before. */
  readonly fromBytes: number
  readonly addedBytes: number
}

/** The script that adds one file to another. Run again, it adds nothing twice. */
export function joinScript({ path, part, fromBytes, addedBytes }: Join): string {
  const values = { whole: path, part, before: fromBytes, added: addedBytes }
  return `export LC_ALL=C\n${compose(values, 'join')}`
}
