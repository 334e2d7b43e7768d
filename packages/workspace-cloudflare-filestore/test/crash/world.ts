import { env } from 'cloudflare:workers'
import type { FileSystem } from '@helix-agents/core/provider'
import { ManualClock } from '@helix-agents/core/testing'
import type { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import { CapturedEngine } from '../batch-fixture.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'
import { bucketFaults, databaseFaults } from './audit.ts'
import { FaultyIsolate } from './faulty-isolate.ts'
import { PART_BYTES, type Scenario, type Stage, THRESHOLD } from './scenarios.ts'

let worlds = 0

/** A database and a place in the bucket; isolates come and go. */
export class World {
  readonly clock = new ManualClock()
  readonly prefix = `world-${(worlds += 1)}`
  readonly #storage: DurableObjectStorage
  readonly #setup: Pick<Scenario, 'withoutBucket' | 'maxSnapshots'>
  /** As the platform keeps it: the earliest time that was asked for. */
  alarmAt: number | undefined

  constructor(
    storage: DurableObjectStorage,
    setup: Pick<Scenario, 'withoutBucket' | 'maxSnapshots'>,
  ) {
    this.#storage = storage
    this.#setup = setup
  }

  /** A new isolate that opens the files. */
  async enter(): Promise<Stage> {
    const isolate = new FaultyIsolate(this.#storage, env.BUCKET)
    const { withoutBucket = false, maxSnapshots } = this.#setup
    const shell = new CapturedEngine()
    const provider = createProvider(isolate.storage, {
      shell,
      ...(!withoutBucket && { r2: isolate.bucket }),
      ...(maxSnapshots !== undefined && { maxSnapshots }),
      r2Prefix: this.prefix,
      inlineThresholdBytes: THRESHOLD,
      partBytes: PART_BYTES,
      clock: this.clock,
      scheduleCollection: (atMs) => {
        if (!isolate.isDead) this.alarmAt = Math.min(this.alarmAt ?? Infinity, atMs)
      },
    })
    const { ws } = await provider.open(
      { kind: 'cloudflare-filestore' },
      session,
      openOptions({ clock: this.clock }),
    )
    return { isolate, provider, ws, fs: ws.fs as FileSystem, startBatch: () => shell.startBatch() }
  }

  /** Versions start anywhere: here they are to be compared with those of another world. */
  startVersions(): void {
    this.#storage.sql.exec('UPDATE helix_fs_state SET version = 0')
  }

  /** Collects until nothing is owed; the alarm is off afterwards. */
  async collectAll(provider: CloudflareFileStoreWorkspaceProvider): Promise<void> {
    for (let at = provider.nextCollectionAt(); at !== undefined; at = provider.nextCollectionAt()) {
      await this.clock.advance(Math.max(0, at - this.clock.now()))
      const { failed } = await provider.collect()
      if (failed > 0) throw new Error(`${failed} objects could not be deleted`)
    }
    this.alarmAt = undefined
  }

  /** All that is wrong now; nothing may be held. */
  async faults(): Promise<string[]> {
    const inBucket = await bucketFaults(this.#storage, env.BUCKET, this.prefix)
    return [...databaseFaults(this.#storage), ...inBucket]
  }
}
