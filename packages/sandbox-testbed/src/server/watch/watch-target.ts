import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EventSink, eventStream } from '../commands/event-stream.ts'
import { NO_SESSION } from '../environment.ts'
import { checkPath, notFound } from '../files/file-error.ts'
import { dataEvent, timestamp } from '../server-sent-events.ts'
import { ServiceError } from '../service-error.ts'
import { type Difference, differences, takeSnapshot, type WatchScope } from './snapshot.ts'
import { ServiceTarget } from '../service-target.ts'

export interface WatchRequest {
  readonly path: string
  readonly recursive?: boolean
  readonly events?: readonly Difference['eventType'][]
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  readonly sessionId?: string
}

export interface CheckRequest extends WatchRequest {
  readonly since?: string
}

const DEFAULT_EXCLUDES = ['.git', 'node_modules', '.DS_Store']

/** How often a watched tree is polled. */
const POLL_MS = 200

/** `watch`: changes of files, found by looking again. */
export class WatchTarget extends ServiceTarget {
  /** Events: `watching`, then an `event` for each change. */
  async watch(request: WatchRequest): Promise<ReadableStream<Uint8Array>> {
    const scope = await this.#scope(request)
    const { stream, sink } = eventStream(this.connection.closed)
    sink.write(dataEvent({ type: 'watching', path: scope.path, watchId: randomUUID() }))
    void poll(scope, request.events, sink)
    return stream
  }

  /** Whether anything changed since a version that an earlier call gave. */
  async checkChanges(request: CheckRequest): Promise<object> {
    const scope = await this.#scope(request)
    const { bootId, changes } = this.container
    const key = JSON.stringify(scope)
    const known = changes.get(key)
    const snapshot = takeSnapshot(scope)
    const isNew = known !== undefined && differences(known.snapshot, snapshot).length > 0
    const count = (known?.count ?? 1) + (isNew ? 1 : 0)
    changes.set(key, { count, snapshot })
    const version = `${bootId}:${count}`
    const reply = { success: true, version, timestamp: timestamp() }
    if (request.since === undefined || request.since === version) {
      return { ...reply, status: 'unchanged' }
    }
    const [boot, since] = request.since.split(':')
    if (boot !== bootId) return { ...reply, status: 'resync', reason: 'restarted' }
    const isKnown = known !== undefined && Number(since) < count
    return isKnown
      ? { ...reply, status: 'changed' }
      : { ...reply, status: 'resync', reason: 'expired' }
  }

  async #scope(request: WatchRequest): Promise<WatchScope> {
    const { exclude, include, path } = request
    checkPath(path)
    if (include !== undefined && exclude !== undefined) {
      throw new ServiceError('VALIDATION_FAILED', 'include and exclude cannot be used together')
    }
    return this.container.sessions.at(request.sessionId ?? NO_SESSION, (cwd) => {
      const absolute = isAbsolute(path) ? path : resolve(cwd, path)
      if (statSync(absolute, { throwIfNoEntry: false }) === undefined) {
        throw notFound({ operation: 'watch', path })
      }
      const excluded = exclude ?? (include === undefined ? DEFAULT_EXCLUDES : [])
      return { path: absolute, recursive: request.recursive ?? true, include, exclude: excluded }
    })
  }
}

async function poll(
  scope: WatchScope,
  wanted: WatchRequest['events'],
  sink: EventSink,
): Promise<void> {
  let before = takeSnapshot(scope)
  while (sink.open) {
    // oxlint-disable-next-line no-await-in-loop -- a poll waits between two reads
    await sleep(POLL_MS)
    const after = takeSnapshot(scope)
    for (const found of differences(before, after)) {
      if (wanted !== undefined && !wanted.includes(found.eventType)) continue
      sink.write(dataEvent({ type: 'event', ...found, timestamp: timestamp() }))
    }
    before = after
  }
}
