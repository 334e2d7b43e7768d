import { lstatSync, readdirSync, realpathSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock, WorkspaceFailedError } from '@helix-agents/core'
import { errnoOf } from '../file-system/map-error.ts'
import { isOwnerAlive, isOwnerElsewhere, type OwnerMarker, readOwner } from '../owner.ts'
import { residentKb, ticksOf } from './process-usage.ts'
import { endProcesses, lastUseMs, REAPED } from './reap.ts'
import { DIRECTORY_PATTERN } from '../ref.ts'
import { findMembers } from '../shell/processes/process-tree.ts'
import { readStoredOutput } from './stored-output.ts'
import { isOwnDirectory, removeDirectory } from '../workspace-directory.ts'

const MEASURE_MS = 200

/** Options of a {@link LocalBashInventory}. */
export interface LocalBashInventoryOptions {
  /** Where workspaces are made. Default: the temporary directory of the system. */
  readonly tmpdirRoot?: string
  /** Time, for tests. Default: the time of the machine. */
  readonly clock?: Clock
}

/**
 * What is known of one workspace directory. `present`: it is there. `absent`: there is none of
 * this name. `unknown`: it is there and is not one of this user with a valid marker.
 */
export interface LocalBashInspection {
  readonly name: string
  readonly state: 'present' | 'absent' | 'unknown'
  /** Whether the process that uses it runs; absent when that cannot be checked from this host. */
  readonly ownerAlive?: boolean
  /** No process owns it: it waits for its session to attach. */
  readonly isDetached?: boolean
  /** When it was attached or detached last, in milliseconds since the epoch. */
  readonly sinceMs?: number
  /** When something was written or run in it last. */
  readonly lastUseMs?: number
}

/** What the processes of one workspace use. */
export interface LocalBashResources {
  /** Share of one core over a fifth of a second, in percent: 200 for two busy cores. */
  readonly cpuPercent: number
  /** Resident memory in units of 1,048,576 bytes. */
  readonly memoryMb: number
  /** Running processes. */
  readonly processes: number
}

/** Inspects the workspace directories of a host, and removes single ones. For operators and fleets. */
export class LocalBashInventory {
  readonly #root: string
  readonly #clock: Clock

  constructor(options: LocalBashInventoryOptions = {}) {
    this.#root = options.tmpdirRoot ?? tmpdir()
    this.#clock = options.clock ?? systemClock
  }

  /** Every directory named like a workspace. A root that does not exist has none. */
  list(): readonly LocalBashInspection[] {
    return this.#names().map((name) => this.inspect(name))
  }

  /** Inspects one workspace. Read-only. */
  inspect(name: string): LocalBashInspection {
    const path = DIRECTORY_PATTERN.test(name) ? this.#find(name) : undefined
    if (path === undefined) return { name, state: 'absent' }
    const marker = isOwnDirectory(path) ? readOwner(path) : undefined
    if (marker === undefined) return { name, state: 'unknown' }
    const { sinceMs } = marker
    const owner = ownerOf(marker)
    const used = lastUseMs(path, marker, this.#clock.now())
    return { name, state: 'present', ...owner, sinceMs, lastUseMs: used }
  }

  /** What the commands of a workspace use. */
  async resources(name: string): Promise<LocalBashResources> {
    const pids = DIRECTORY_PATTERN.test(name) ? findMembers(scopeOf(name)) : []
    const before = ticksOf(pids)
    const startedAt = performance.now()
    await this.#clock.sleep(MEASURE_MS)
    const seconds = Math.max(1, performance.now() - startedAt) / 1000
    const usedTicks = Math.max(0, ticksOf(pids) - before)
    return {
      // A tick is a hundredth of a second.
      cpuPercent: Math.round(usedTicks / seconds),
      memoryMb: Math.round(residentKb(pids) / 1024),
      processes: pids.length,
    }
  }

  /**
   * The ends of the outputs of a workspace that are on disk: of background processes, and of
   * commands that wrote a lot. Empty when there are none, or none that can be read.
   */
  logs(name: string): string {
    const path = this.inspect(name).state === 'present' ? this.#find(name) : undefined
    return path === undefined ? '' : readStoredOutput(path)
  }

  /**
   * Ends the commands of a workspace and removes its directory, in use or not. One that is gone already is fine.
   * @throws {WorkspaceFailedError} `provider-failed` for a directory without a valid marker, and
   * for processes that cannot be ended.
   */
  async end(name: string): Promise<void> {
    const { state } = this.inspect(name)
    if (state === 'absent') return
    if (state === 'unknown') throw failed('it has no valid marker of this user')
    const path = this.#find(name)
    if (path === undefined) return
    const doomed = path.endsWith(REAPED) ? path : path + REAPED
    if (doomed !== path) {
      await this.#removeEarlier(doomed)
      // From now on no process can attach to it.
      renameSync(path, doomed)
    }
    const left = await endProcesses(doomed, name)
    if (left.length > 0) throw failed(`${left.length} of its processes cannot be ended`)
    // A process of the workspace may have put a link to somewhere else in its place.
    if (!isOwnDirectory(doomed)) throw failed('it was replaced while its processes were ended')
    await removeDirectory(doomed)
  }

  /** What an interrupted removal of a workspace of this name left is in the way. */
  async #removeEarlier(doomed: string): Promise<void> {
    if (lstatSync(doomed, { throwIfNoEntry: false }) === undefined) return
    if (!isOwnDirectory(doomed) || readOwner(doomed) === undefined)
      throw failed(`something else has the name ${doomed.slice(doomed.lastIndexOf('/') + 1)}`)
    await removeDirectory(doomed)
  }

  #names(): readonly string[] {
    try {
      const names = readdirSync(this.#root).map((name) =>
        name.endsWith(REAPED) ? name.slice(0, -REAPED.length) : name,
      )
      return [...new Set(names)].filter((name) => DIRECTORY_PATTERN.test(name))
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return []
      throw error
    }
  }

  /** Also one whose removal was interrupted. */
  #find(name: string): string | undefined {
    const root = canonical(this.#root)
    if (root === undefined) return undefined
    const paths = [join(root, name), join(root, name + REAPED)]
    return paths.find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)
  }
}

function canonical(root: string): string | undefined {
  try {
    return realpathSync(root)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function ownerOf(marker: OwnerMarker): Pick<LocalBashInspection, 'ownerAlive' | 'isDetached'> {
  if (isOwnerElsewhere(marker)) return {}
  const isDetached = marker.process === undefined
  return { ownerAlive: isOwnerAlive(marker), ...(isDetached && { isDetached }) }
}

function scopeOf(name: string): Parameters<typeof findMembers>[0] {
  return { marker: `${name}:`, places: [] }
}

function failed(why: string): WorkspaceFailedError {
  return new WorkspaceFailedError('provider-failed', `the workspace cannot be ended: ${why}`, {
    transient: true,
  })
}
