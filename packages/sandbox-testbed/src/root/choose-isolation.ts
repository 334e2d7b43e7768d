import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { nodeProblem } from '../node-version.ts'
import { makeTestbedDirectory, refuseClosedDirectory } from '../testbed-directory.ts'
import { SandboxTestbedError } from '../testbed-error.ts'
import { createBubblewrap } from './bubblewrap.ts'
import { prepareProbeImage, PROBE_NODE_PATH } from './image.ts'
import type { Isolation } from './mount-plan.ts'
import { createPrivateRoot, removeTree } from './private-root.ts'
import { killInside, spawnInside } from './spawn-inside.ts'
import { createUnshare } from './unshare.ts'

/** How containers are kept from the host; `auto` takes the first that works here. */
export type IsolationChoice = 'auto' | 'bubblewrap' | 'unshare'

/** Whether this host can keep containers apart, and why not. */
export type SandboxTestbedAvailability =
  | { readonly available: true; readonly isolation: 'bubblewrap' | 'unshare' }
  | { readonly available: false; readonly reason: string }

const PROBE_TIMEOUT_MS = 10_000
const PROBE_LIMITS = { processes: 64, fileBytes: 2 ** 20, memoryBytes: 2 ** 30 }
const tried = new Map<string, Promise<Attempt>>()

type Attempt = { readonly isolation: Isolation } | { readonly reason: string }

/** The names of the ways to isolate, best first. */
const CANDIDATES = {
  bubblewrap: createBubblewrap,
  unshare: () => createUnshare({ userNamespace: true }),
  'unshare as root': () => createUnshare({ userNamespace: false }),
}

/**
 * Whether this host can isolate containers. Tests ask it and skip with the reason.
 *
 * @param choice the way that must work; by default any.
 */
export async function sandboxTestbedAvailability(
  choice: IsolationChoice = 'auto',
): Promise<SandboxTestbedAvailability> {
  const attempt = await chooseAttempt(choice)
  if ('reason' in attempt) return { available: false, reason: attempt.reason }
  return { available: true, isolation: attempt.isolation.kind }
}

/**
 * Picks the way to isolate containers, by trying it.
 *
 * @throws {SandboxTestbedError} isolation-unavailable
 */
export async function chooseIsolation(choice: IsolationChoice): Promise<Isolation> {
  const attempt = await chooseAttempt(choice)
  if ('reason' in attempt) throw new SandboxTestbedError('isolation-unavailable', attempt.reason)
  return attempt.isolation
}

async function chooseAttempt(choice: IsolationChoice): Promise<Attempt> {
  const problem = nodeProblem()
  if (problem !== undefined) return { reason: problem }
  if (process.platform !== 'linux') return { reason: 'containers need Linux (WSL included)' }
  const reasons: string[] = []
  for (const [name, create] of Object.entries(CANDIDATES)) {
    if (choice !== 'auto' && !name.startsWith(choice)) continue
    const attempt = await tryOnce(name, create)
    if ('isolation' in attempt) return attempt
    reasons.push(`${name}: ${attempt.reason}`)
  }
  return { reason: `no private root on this host (${reasons.join('; ')})` }
}

function tryOnce(name: string, create: () => Isolation | undefined): Promise<Attempt> {
  // What works in one folder for temporary files need not work in another.
  const key = `${name} ${tmpdir()}`
  const known = tried.get(key)
  if (known !== undefined) return known
  const attempt = probe(create())
  tried.set(key, attempt)
  return attempt
}

/** Starts a program in a private root for real: flags and kernel settings do not say enough. */
async function probe(isolation: Isolation | undefined): Promise<Attempt> {
  if (isolation === undefined) return { reason: 'not installed' }
  let directory: string | undefined
  try {
    directory = makeTestbedDirectory('probe-')
    refuseClosedDirectory(directory)
    const image = prepareProbeImage(join(directory, 'image'))
    const root = createPrivateRoot({
      directory: join(directory, 'root'),
      image,
      limits: PROBE_LIMITS,
    })
    const { child, stderr } = spawnInside(
      isolation.command(root, [PROBE_NODE_PATH, '--version']),
      {},
    )
    const timer = setTimeout(() => killInside(child), PROBE_TIMEOUT_MS)
    const [complaint] = await Promise.all([text(stderr), once(child, 'close')])
    clearTimeout(timer)
    return child.exitCode === 0 ? { isolation } : { reason: lastLine(complaint) }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  } finally {
    if (directory !== undefined) await removeTree(directory)
  }
}

function lastLine(complaint: string): string {
  return complaint.trim().split('\n').at(-1) || 'it failed without a word'
}
