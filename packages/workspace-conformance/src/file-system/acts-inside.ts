import { HelixError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import { check, ConformanceError, equal, rejectsWithCode } from '../assert.ts'
import { unguessable } from '../unguessable.ts'

type Call = 'writeFile' | 'copy' | 'move' | 'rm'

/**
 * Whether a new workspace is one, asked before anything in it has a plain name: it is empty, and
 * a file with a name that nothing else has comes and goes in it. Calls that are not there yet say
 * nothing; a call that looks elsewhere is a finding.
 * @returns what is wrong; `undefined` when nothing is.
 */
export async function findStranger(fs: FileSystem): Promise<string | undefined> {
  const [listed] = await Promise.allSettled([fs.ls('/')])
  if (listed.status === 'rejected') return undefined
  if (listed.value.length > 0) return `a new workspace with ${listed.value.length} entries`
  const [probed] = await Promise.allSettled([writeAndRemove(fs)])
  if (probed.status === 'fulfilled' || HelixError.isInstance(probed.reason)) return undefined
  return String(probed.reason instanceof Error ? probed.reason.message : probed.reason)
}

async function writeAndRemove(fs: FileSystem): Promise<void> {
  const name = unguessable()
  await acts(fs, 'writeFile', { appears: [name] }, () => fs.writeFile(`/${name}`, 'x'))
  await acts(fs, 'rm', { vanishes: [name] }, () => fs.rm(`/${name}`))
  await removeSubtree(fs)
}

/** A call may take another way for a whole subtree. */
async function removeSubtree(fs: FileSystem): Promise<void> {
  const name = unguessable()
  await acts(fs, 'writeFile', { appears: [name] }, () => fs.writeFile(`/${name}/file`, 'x'))
  await acts(fs, 'rm', { vanishes: [name] }, () => fs.rm(`/${name}`, { recursive: true }))
}

/**
 * Shows, with names that nothing else has, that calls act inside the workspace: only then may a
 * behaviour copy, move or remove something with a plain name, or the root.
 * @throws {ConformanceError} when one of them does not act on what was just written.
 */
export async function assertActsInside(fs: FileSystem): Promise<void> {
  const [first, copy, moved] = [unguessable(), unguessable(), unguessable()]
  await acts(fs, 'writeFile', { appears: [first] }, () => fs.writeFile(`/${first}`, 'x'))
  await acts(fs, 'copy', { appears: [copy] }, () => fs.copy(`/${first}`, `/${copy}`))
  const move = { appears: [moved], vanishes: [first] }
  await acts(fs, 'move', move, () => fs.move(`/${first}`, `/${moved}`))
  for (const name of await namesIn(fs)) {
    if (![first, copy, moved].includes(name)) continue
    await acts(fs, 'rm', { vanishes: [name] }, () => fs.rm(`/${name}`))
  }
  await removeSubtree(fs)
}

/**
 * Shows, in an empty workspace, that `rm` of the root and `rm` of a subtree each mean this workspace:
 * a full root is rejected without `recursive`, an empty one is accepted, and of the subtree nothing
 * stays. Only then may a behaviour empty the root.
 * @throws {ConformanceError} when one of these calls means something else; nothing more is tried.
 */
export async function assertRootInside(fs: FileSystem): Promise<void> {
  await assertActsInside(fs)
  const name = unguessable()
  await fs.writeFile(`/${name}/file`, 'x')
  for (const path of [`/${name}`, '/']) await rejectsWithCode('not-empty', () => fs.rm(path))
  equal(await namesIn(fs), [name])
  await fs.rm(`/${name}`, { recursive: true })
  equal(await namesIn(fs), [])
  const [emptied] = await Promise.allSettled([fs.rm('/')])
  check(emptied.status === 'fulfilled', expectation('rm'))
}

interface Effect {
  readonly appears?: readonly string[]
  readonly vanishes?: readonly string[]
}

/** A call that a provider does not offer may be rejected; one that looks elsewhere finds nothing. */
async function acts(
  fs: FileSystem,
  name: Call,
  effect: Effect,
  call: () => Promise<unknown>,
): Promise<void> {
  const [outcome] = await Promise.allSettled([call()])
  if (outcome.status === 'rejected') {
    const { reason } = outcome
    if (HelixError.isInstance(reason) && reason.code !== 'not-found') return
    const cause = { cause: reason }
    throw new ConformanceError(`${expectation(name)}, got ${String(reason)}`, cause)
  }
  const names = await namesIn(fs)
  const shows = (effect.appears ?? []).every((one) => names.includes(one))
  check(shows && !(effect.vanishes ?? []).some((one) => names.includes(one)), expectation(name))
}

function expectation(name: Call): string {
  return `${name}() to act on a file of the workspace that nothing else has; nothing more was tried`
}

async function namesIn(fs: FileSystem): Promise<string[]> {
  return (await fs.ls('/')).map((entry) => entry.name)
}
