// Starts processes on a session that waits, and lets them die.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { buildChild } from '../child-process.ts'
import { type Findings, findingsOf } from './judge-waiting.ts'
import type { WaitingTask } from './waiting-session.ts'

export interface Ended {
  readonly signal: NodeJS.Signals | null
  readonly points: number
  /** Calls that have had their effect. */
  readonly effects: number
}

export async function run(child: string, task: WaitingTask): Promise<Ended> {
  const { PATH } = process.env
  const started = spawn(process.execPath, [child, JSON.stringify(task)], {
    env: { PATH, NODE_COMPILE_CACHE: `${child}.cache`, NODE_NO_WARNINGS: '1' },
  })
  const [out, err, [code, signal]] = await Promise.all([
    text(started.stdout),
    text(started.stderr),
    once(started, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ])
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(err)
  return { signal, points: 0, effects: 0, ...(out !== '' && (JSON.parse(out) as object)) }
}

export interface Lab {
  readonly child: string
  readonly directory: string
}

export async function openLab(): Promise<Lab> {
  const directory = temporaryDirectory()
  const child = await buildChild(directory, join(import.meta.dirname, 'waiting-child.ts'))
  return { child, directory }
}

export function taskIn({ directory }: Lab, name: string): WaitingTask {
  const database = join(directory, `${name}.db`)
  return { database, effectLog: join(directory, `${name}.log`), clockAheadMs: 0 }
}

export type Death = Pick<WaitingTask, 'dieAtPoint' | 'dieAfterEffects'>

/** Lets a process die, and another one work to the end. */
export async function killAt(
  lab: Lab,
  death: Death,
  over: Pick<WaitingTask, 'sabotage'> = {},
): Promise<Findings> {
  const { dieAtPoint, dieAfterEffects } = death
  const name = dieAtPoint === undefined ? `after-${dieAfterEffects}` : `at-${dieAtPoint}`
  const task = { ...taskIn(lab, name), ...over }
  expect(await run(lab.child, { ...task, ...death })).toMatchObject({ signal: 'SIGKILL' })
  const rest = { ...task, clockAheadMs: 3_600_000 }
  expect(await run(lab.child, rest)).toMatchObject({ signal: null })
  return findingsOf(task)
}
