import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OutputFiles } from '../sessions/session-script.ts'
import { GrowingText } from './growing-text.ts'

/** How often growing files are polled. */
const POLL_MS = 15

/** Which output a text came from. */
export type OutputName = 'stderr' | 'stdout'

export interface FollowOptions {
  readonly signal: AbortSignal
  /** Returns false when it wants no more until the next poll. */
  onOutput(stream: OutputName, text: string): boolean
  /** Asked at every poll: a process that was killed writes no exit code any more. */
  killed?(): boolean
}

/**
 * Follows the files of a command in the background until its exit code appears.
 * @returns The exit code; undefined when the signal ended it or the process was killed.
 */
export async function followOutput(
  files: OutputFiles,
  options: FollowOptions,
): Promise<number | undefined> {
  const outputs: readonly (readonly [OutputName, GrowingText])[] = [
    ['stdout', new GrowingText(files.stdout)],
    ['stderr', new GrowingText(files.stderr)],
  ]
  while (!options.signal.aborted) {
    // Asked first: what was written before the exit code is read after it.
    const exitCode = readExitCode(files)
    const isOver = exitCode !== undefined || (options.killed?.() ?? false)
    const drained = outputs.map(([name, output]) =>
      output.drain((text) => options.onOutput(name, text)),
    )
    if (isOver && !drained.includes(false)) return exitCode
    // oxlint-disable-next-line no-await-in-loop -- a poll waits between two reads
    await sleep(POLL_MS)
  }
  return undefined
}

/** The exit code that a command in the background left, if it has. */
export function readExitCode(files: OutputFiles): number | undefined {
  try {
    const text = readFileSync(files.exitCode, 'utf8')
    return text === '' ? undefined : Number(text)
  } catch {
    // Not there yet, or never.
    return undefined
  }
}
