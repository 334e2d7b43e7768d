import { assign, sources } from './compose.ts'
import { sayFunction } from './reply.ts'
import type { ContainerSettings } from './settings.ts'

/** Temporary files of writes; listings leave them out. */
export const TEMPORARY_PREFIX = '.helix-write-'

/** What every script on files starts with: it checks the epoch, and gives the functions for paths. */
export function filePrelude(settings: ContainerSettings, nonce: string, epoch: string): string {
  const names = { d: settings.scratch, R: settings.root, N: nonce, T: TEMPORARY_PREFIX }
  return `export LC_ALL=C
${assign({ ...names, hx_want: epoch, refuse: false, F: sources('links') })}
${sayFunction(nonce)}
${sources('epoch', 'paths')}`
}

/** Put in front of a script: links on the way of its paths are rejected. */
export const REFUSE_LINKS = 'refuse=1'
