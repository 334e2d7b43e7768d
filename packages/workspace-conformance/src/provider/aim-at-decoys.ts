import { HelixError } from '@helix-agents/core'
import type { FileSystem, OpenedWorkspace, WorkspaceRef } from '@helix-agents/core/provider'
import { check, equal } from '../assert.ts'
import { read } from '../file-system/files.ts'
import { unguessable } from '../unguessable.ts'
import { type ProviderSubject } from './provider-subject.ts'

/** What a behaviour may aim at. */
export interface Target {
  /** Of the workspace that is the decoy of the kit. */
  readonly ref: WorkspaceRef
  /** Ids that open nothing, or a decoy. */
  readonly ids: readonly string[]
  /** Paths that leave a workspace, to nothing or to a decoy. */
  readonly paths: readonly string[]
  /** A text that stands in the decoy of the kit and nowhere else. */
  readonly words: string
  /** @throws {ConformanceError} when a decoy was touched. */
  assertIntact(): Promise<void>
}

/** Longest id that still fits into a path beside other names. */
const MAX_ID_LENGTH = 200

/**
 * Opens a second workspace as a decoy and names what leads from the first to it, and to nothing.
 * @param mine The workspace from which a behaviour tries to break out.
 */
export async function aimAtDecoys(
  subject: ProviderSubject,
  mine: OpenedWorkspace,
): Promise<Target> {
  const decoy = await subject.open({ sessionId: subject.session('decoy') })
  const [directory, words] = [unguessable(), `words of a decoy ${unguessable()}`]
  const fs = await fillDecoy(decoy.ws.fs, `/${directory}/decoy.txt`, words)
  const { decoys } = subject.harness
  return {
    words,
    ref: decoy.ref,
    ids: [...idsOfNothing(), ...idsBeside(mine, decoy), ...(decoys?.ids ?? [])],
    paths: [...pathsToNothing(mine), ...pathsInto(decoy, directory), ...(decoys?.paths ?? [])],
    assertIntact: async () => {
      if (fs !== undefined) await assertKept(fs, directory, words)
      check((await decoys?.isIntact()) ?? true, 'the decoys of the harness to stay as they were')
    },
  }
}

/** @returns `undefined` where files cannot be written (yet): the decoy is then an empty workspace. */
async function fillDecoy(
  fs: FileSystem | undefined,
  path: string,
  words: string,
): Promise<FileSystem | undefined> {
  const [written] = await Promise.allSettled([fs?.writeFile(path, words)])
  if (written.status === 'fulfilled') return fs
  if (HelixError.isInstance(written.reason)) return undefined
  throw written.reason
}

async function assertKept(fs: FileSystem, directory: string, words: string): Promise<void> {
  const paths = await fs.glob('**')
  equal(paths, [`/${directory}/decoy.txt`])
  equal(await read(fs, `/${directory}/decoy.txt`), words)
}

function idsOfNothing(): string[] {
  const name = unguessable()
  const long = name.repeat(150)
  return [name, `/${name}`, `../${name}`, `../../${name}`, `${name}/..%2f`, `${name}\u0000`, long]
}

/** Other spellings of a workspace's id: only a provider that makes a path of it accepts them. */
function idsBeside(mine: OpenedWorkspace, decoy: OpenedWorkspace): string[] {
  const [own, other] = [mine.ws.id, decoy.ws.id]
  return [`./${other}`, `${other}/.`, `${own}/../${other}`, `${unguessable()}/../${other}`]
}

function pathsToNothing({ ws }: OpenedWorkspace): string[] {
  const name = unguessable()
  const beside = ws.id.length < MAX_ID_LENGTH ? [`/../${ws.id}-${name}`] : []
  return [`/../${name}`, `../${name}`, `/../../${name}/a`, `d/../../${name}`, ...beside]
}

function pathsInto({ ws }: OpenedWorkspace, directory: string): string[] {
  if (ws.id.length >= MAX_ID_LENGTH) return []
  return [`/../${ws.id}/${directory}/decoy.txt`, `/d/../../${ws.id}/${directory}`]
}
