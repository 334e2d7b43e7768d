// Kills the processes of a session at random moments until it is done.
import type { CrashChild } from './child-process.ts'
import type { CrashLab } from './crash-lab.ts'
import type { Random } from './random.ts'

/** Points that a process passes in a step, about. */
const POINTS_PER_STEP = 40
/** Kills may fall anywhere between two points. */
const MAX_SPIN_MS = 1.5
/** Most points by which a process outruns its kill, where this one is slow to hear of them. */
const MAX_LATE_POINTS = 15

export interface KillOptions {
  readonly random: Random
  readonly kills: number
  /**
   * Part of the steps that the killed processes do. The rest is for the last one, so that the session
   * does not end before; few kills vary more and need a larger rest. Default 0.85.
   */
  readonly spentOnKills?: number
}

/**
 * Lets processes work on the session, one after the other, and kills each at a random moment:
 * while it starts, while it resumes, or some steps later. The last one dies when a call had its
 * effect, so that one at least is unknown. After it one works to the end.
 * @returns how often it killed.
 */
export async function killOften(lab: CrashLab, options: KillOptions): Promise<number> {
  const { random, spentOnKills = 0.85 } = options
  let [kills, stepsDone] = [0, 0]
  while (kills < options.kills - 1) {
    // Looking mends the file after a kill: half of the time that is left to the next process.
    if (random.next() < 0.5) stepsDone = await lab.stepsDone()
    const stepsLeft = lab.steps * spentOnKills - stepsDone
    const lifePoints = pointsToLive(stepsLeft, options.kills - kills, random)
    const child = await lab.next({ holdAtPoint: lifePoints + MAX_LATE_POINTS })
    const live = (): Promise<boolean> => killAt(child, lifePoints, random)
    // A client is not always there, so some processes are alone with the file.
    const wasKilled = random.next() < 0.5 ? await lab.watch(live) : await live()
    if (!wasKilled) break
    kills += 1
  }
  if (await diesInCall(lab)) kills += 1
  const last = await lab.next()
  await lab.watch(() => last.ended)
  if (last.stderr !== '') throw new Error(last.stderr)
  return kills
}

/** Many lives are short and some are long, none longer than the steps that are left for all. */
function pointsToLive(stepsLeft: number, killsLeft: number, random: Random): number {
  const steps = (-Math.log(1 - random.next()) * stepsLeft) / killsLeft
  return Math.floor(Math.max(0, Math.min(steps, stepsLeft)) * POINTS_PER_STEP)
}

/** Whether the kill came before the end. */
async function killAt(child: CrashChild, points: number, random: Random): Promise<boolean> {
  await child.until(() => child.points >= points)
  spin(random.next() * MAX_SPIN_MS)
  child.kill('SIGKILL')
  const { signal } = await child.ended
  if (child.stderr !== '') throw new Error(child.stderr)
  return signal === 'SIGKILL'
}

async function diesInCall(lab: CrashLab): Promise<boolean> {
  const child = await lab.next({ diesInCall: true })
  const { signal } = await child.ended
  if (child.stderr !== '') throw new Error(child.stderr)
  return signal === 'SIGKILL'
}

/** A timer cannot wait for less than a millisecond. */
function spin(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}
