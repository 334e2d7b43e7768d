// Operations that take several calls, with each of them cut off in turn: the documented class and
// code, an effect that is whole or none, a handle that goes on, and nothing left behind.
import { isDeepStrictEqual } from 'node:util'
import { TestSampler } from '@helix-agents/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashParts } from '../src/sandbox-id.ts'
import { ends } from './fault-matrix/cells.ts'
import { cuts, meetEachCall, meetOperation } from './fault-matrix/each-call.ts'
import {
  coding,
  LONG_FIXTURE,
  type LongOperation,
  reading,
  running,
  writing,
} from './fault-matrix/long-operations.ts'
import { assertLive, endOf } from './fault-matrix/meet.ts'
import { availability, Bench, RemoteWorkspace, skipNote } from './testbed/bench.ts'

const sampler = new TestSampler()
/** Operations of each kind that a sample takes. */
const SAMPLED_OPERATIONS = 1
/** Ways to cut a call off. */
const SAMPLED_CUTS = 1

/** Processes of the container; the command that counts them is always the same. */
const countProcesses = async (ws: RemoteWorkspace): Promise<number> =>
  Number(await ws.output('ls -d /proc/[0-9]* | wc -l'))

/** Keys of the backups. */
const objectsOf = async ({ testbed }: Bench): Promise<readonly string[]> => {
  const bucket = await testbed.miniflare.getR2Bucket('BACKUP_BUCKET')
  return (await bucket.list()).objects.map(({ key }) => key.replace('backups/', ''))
}

const LOOKS = 100
const LOOK_PAUSE_MS = 300

/** Looks until there is what is wanted, or for half a minute. @returns what was seen last. */
async function lookFor<T>(wanted: T, look: () => Promise<T>): Promise<T> {
  for (let looks = 1; ; looks += 1) {
    const seen = await look()
    if (isDeepStrictEqual(seen, wanted) || looks === LOOKS) return seen
    await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS))
  }
}

const TIMEOUT_MS = 600_000
const BACKUPS = { backupR2Binding: 'BACKUP_BUCKET' } as const
/** All that is in the workspace, with its modes and its content. */
const TREE = 'find . -printf "%M %p %l\\n" | sort; find . -type f -exec sha256sum {} + | sort'
const SPOIL = 'rm kept; mkdir -p stray/d; echo x > stray/d/x; ln -s / root'
const MAKE_TREE =
  'echo kept > kept; mkdir -p empty .d; chmod 750 .d; head -c 300000 /dev/urandom > r'

interface Ref {
  readonly ref: { readonly sandbox: string; readonly epoch: string | null }
}

interface Taken {
  readonly ref: { readonly snapshot: { readonly backup: { readonly id: string } } }
}

/** As when another container answers. */
const withEpoch = (ref: Ref, epoch: string): Ref => ({ ...ref, ref: { ...ref.ref, epoch } })

/** An object that nobody has asked for some time has forgotten what is open. */
async function appendAgain(ws: RemoteWorkspace | undefined, path: string): Promise<void> {
  await ws?.open()
  await ws?.call('fs.appendFile', path, '.')
}

const isAllowed = (end: string, isCut: boolean, allowed: readonly string[]): boolean =>
  isCut ? allowed.includes(end) : end === ends.done

/** Files of the driver that belong to one call. */
const LEFT = 'ls -A /workspace /var/tmp/.helix | grep -E "^[.]helix-write-|[.]sh$|^gone-"; true'

describe.skipIf(!availability.available)(`in workerd${skipNote}`, () => {
  let bench: Bench
  beforeAll(async () => void (bench = await Bench.start()), 180_000)
  afterAll(() => bench?.testbed.stop(), 180_000)

  test.concurrent.each<[string, readonly LongOperation[]]>([
    ['reading', reading],
    ['writing', writing],
    ['commands', running],
    ['code', coding],
  ])(
    '%s',
    async (name, operations) => {
      const ws = await bench.open(name)
      await ws.call('shell.run', LONG_FIXTURE)
      const before = await countProcesses(ws)
      for (const operation of sampler.pick(name, operations, SAMPLED_OPERATIONS)) {
        expect(await meetOperation(bench, ws, operation)).toEqual([])
      }
      expect(await ws.output(LEFT)).toBe('')
      expect(await lookFor(before, () => countProcesses(ws))).toBe(before)
    },
    TIMEOUT_MS,
  )

  test.concurrent(
    'taking a snapshot',
    async () => {
      const ws = await bench.open('taken', { config: BACKUPS })
      await ws.call('shell.run', 'echo kept > kept; head -c 300000 /dev/urandom > random')
      const before = await countProcesses(ws)
      const taken: string[] = []
      const turns = await meetEachCall({
        bench,
        sandbox: ws.id,
        cuts: sampler.pick('cuts of a snapshot', cuts, SAMPLED_CUTS),
        run: async () =>
          void taken.push((await ws.call<Taken>('snapshot.snapshot')).ref.snapshot.backup.id),
        after: () => assertLive(ws),
        streams: 'container',
      })
      // A content that is cut off in its middle is told by the SDK as a snapshot that failed.
      const allowed = [ends.done, ends.unknown, ends.failed]
      expect(turns.filter(({ end, isCut }) => !isAllowed(end, isCut, allowed))).toEqual([])
      const stored = await objectsOf(bench)
      for (const id of taken) {
        expect(stored).toEqual(expect.arrayContaining([`${id}/data.sqsh`, `${id}/meta.json`]))
      }
      // To list the bucket may take so long that the object has forgotten what is open.
      await ws.resolve()
      expect(await lookFor(before, () => countProcesses(ws))).toBe(before)
    },
    TIMEOUT_MS,
  )

  test.concurrent.each([
    ['a fork', cuts.slice(0, 1)],
    ['a container that lost its disk', cuts.slice(1)],
  ])(
    'bringing a snapshot back into %s',
    async (name, ways) => {
      const config = { ...BACKUPS, autoRestore: true }
      const ws = await bench.open(`into ${name}`, { config })
      await ws.call('shell.run', MAKE_TREE)
      const snapshot = await ws.call('snapshot.snapshot')
      const whole = await ws.output(TREE)
      const ref =
        name === 'a fork'
          ? await ws.call<Ref>('snapshot.branch', snapshot)
          : withEpoch(await ws.call<Ref>('changedRef'), 'another')
      // The same one again and again: each restore is one over what the last one has left.
      const check = async (): Promise<void> => {
        expect(await ws.output(`{ ${TREE}; }; ${SPOIL}`)).toBe(whole)
      }
      expect((await ws.resolve(ref)).receipt.outcome).toBe('restored')
      await check()
      const turns = await meetEachCall({
        bench,
        sandbox: ref.ref.sandbox,
        cuts: ways,
        run: () => ws.resolve(ref),
        after: async ({ end }) => {
          if (end !== ends.done) await ws.resolve(ref)
          await check()
        },
        streams: 'worker',
      })
      const allowed = [ends.done, ends.later]
      expect(turns.filter(({ end, isCut }) => !isAllowed(end, isCut, allowed))).toEqual([])
    },
    TIMEOUT_MS,
  )

  test.concurrent(
    'opening with a mount',
    async () => {
      const mounts = [{ bucket: 'FILES', path: '/workspace/data' }] as const
      const opened = new Map<string, RemoteWorkspace>()
      for (const fault of sampler.pick('cuts of a mount', cuts, SAMPLED_CUTS)) {
        for (let skip = 0, isCut = true; isCut; skip += 1) {
          const name = `mount-${fault.kind}-${skip}`
          const ws = new RemoteWorkspace(bench, name, { config: { mounts } })
          const sandbox = `hx-${await hashParts('sandbox', `session-${name}`, 'box')}`
          const injected = bench.testbed.faults.inject({ ...fault, sandbox, skip, times: 1 })
          const end = await endOf(ws.open())
          injected.remove()
          isCut = injected.hits > 0
          expect([name, isAllowed(end, isCut, [ends.done, ends.later]) ? '' : end]).toEqual([
            name,
            '',
          ])
          if (end !== ends.done) await ws.open()
          // The mount itself calls on, and may be cut off after the open.
          const write = (): Promise<string> =>
            endOf(ws.call('fs.writeFile', `/data/${name}`, 'kept'))
          expect([ends.done, ends.unknown]).toContain(await write())
          expect([name, await write()]).toEqual([name, ends.done])
          opened.set(name, ws)
        }
      }
      // Each is mounted, and not a directory of its own that goes with the container.
      const bucket = await bench.testbed.miniflare.getR2Bucket('FILES')
      const names = [...opened.keys()].toSorted()
      const look = async (): Promise<string[]> => {
        const { objects } = await bucket.list()
        const stored = objects.map(({ key }) => key.replace(/.*\//, '')).toSorted()
        // What was written while the mount itself was cut off is not there before the next change.
        const missing = names.filter((name) => !stored.includes(name))
        await Promise.all(missing.map((name) => appendAgain(opened.get(name), `/data/${name}`)))
        return stored
      }
      expect(await lookFor(names, look)).toEqual(names)
    },
    TIMEOUT_MS,
  )
})
