import { readFileSync, rmSync, statSync } from 'node:fs'
import { OUTGOING_FRAME_BYTES } from '../limits.ts'
import type { OutputFiles } from '../sessions/session-script.ts'

/** The text that a command of a session left. */
export interface SessionOutput {
  readonly stdout: string
  readonly stderr: string
}

/** Reads and removes what a command left; nothing when it is more than a reply can hold. */
export function takeSessionOutput(files: OutputFiles): SessionOutput | undefined {
  const total = sizeOf(files.stdout) + sizeOf(files.stderr)
  try {
    if (total > OUTGOING_FRAME_BYTES) return undefined
    return { stdout: textOf(files.stdout), stderr: textOf(files.stderr) }
  } finally {
    for (const path of [files.stdout, files.stderr]) rmSync(path, { force: true })
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Session output loses its last newline and every NUL. */
function textOf(path: string): string {
  if (sizeOf(path) === 0) return ''
  const text = readFileSync(path, 'utf8').replaceAll('\0', '')
  return text.endsWith('\n') ? text.slice(0, -1) : text
}
