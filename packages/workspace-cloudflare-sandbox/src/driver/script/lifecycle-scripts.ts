import { assign, compose, sources } from './compose.ts'
import { TEMPORARY_PREFIX } from './file-prelude.ts'
import { sayFunction } from './reply.ts'
import type { ContainerSettings } from './settings.ts'

/** The script that says which container this is: keeps an epoch that is there, else writes one. */
export function ensureScript(settings: ContainerSettings, nonce: string, epoch: string): string {
  const values = { d: settings.scratch, R: settings.root, T: TEMPORARY_PREFIX, fresh: epoch }
  return `exec 2>/dev/null
${assign(values)}
${sayFunction(nonce)}
${sources('ensure')}`
}

/** The script that empties a directory, and makes it when missing. */
export function emptyScript(directory: string): string {
  return compose({ directory }, 'empty')
}

/** The script that measures a directory: members, bytes of its files, inodes, and where it is. */
export function measureScript(directory: string): string {
  return compose({ directory }, 'measure')
}
