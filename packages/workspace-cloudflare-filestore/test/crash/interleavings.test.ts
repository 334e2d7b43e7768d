// Several clients at once on one set of files, and a collector. A seed chooses at each call to the
// bucket who goes on. No append and no edit is lost, no file is cut, nothing is left behind.
import { env } from 'cloudflare:workers'
import { FileSystemError } from '@helix-agents/core'
import type { FileSystem } from '@helix-agents/core/provider'
import { ManualClock, TestSampler } from '@helix-agents/core/testing'
import type { CloudflareFileStoreWorkspaceProvider } from '@helix-agents/workspace-cloudflare-filestore'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asNewIsolate, inObject } from '../objects.ts'
import { createProvider, openOptions, session } from '../provider-harness.ts'
import { bucketFaults, collected, databaseFaults } from './audit.ts'
import { gatedBucket, Gates } from './gated-bucket.ts'

const sampler = new TestSampler()
const THRESHOLD = 100
const GRACE_MS = 1000

/** What all clients of one run share. */
interface Run {
  readonly fs: FileSystem
  readonly provider: CloudflareFileStoreWorkspaceProvider
  readonly clock: ManualClock
  /** Pieces that were surely added, by file. */
  readonly appended: string[]
  readonly edited: string[]
  /** What was read of `/log`, each of it once the whole file. */
  readonly seen: string[]
  tokens: number
}

type Step = (run: Run) => Promise<unknown>

/** A piece of text that can be found again, and that shows when it is cut. */
function token(run: Run, length: number): string {
  const id = `${(run.tokens += 1)}`
  return `<${id}:${'.'.repeat(length)}>`
}

const decoder = new TextDecoder()
const textOf = async (fs: FileSystem, path: string): Promise<string> =>
  decoder.decode(await fs.readFile(path))

/** What another client removed or made meanwhile is no fault. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!FileSystemError.isInstance(error)) throw error
    if (!['not-found', 'already-exists', 'stale-write'].includes(error.code)) throw error
  }
}

const lengths = fc.constantFrom(1, 20, 99, 101, 260)
const names = fc.constantFrom('/c/one', '/c/two', '/three')

const appending =
  (length: number): Step =>
  async (run) => {
    const piece = token(run, length)
    await run.fs.appendFile('/log', piece)
    run.appended.push(piece)
  }
const append = lengths.map(appending)

/** As `edit_file` does it: read, change, write if nobody else did; else once more. */
const edit = fc.tuple(lengths, fc.nat(100)).map(([length, place]): Step => async (run) => {
  const piece = token(run, length)
  for (;;) {
    const { version } = await run.fs.stat('/edited')
    const before = await textOf(run.fs, '/edited')
    const seams = [...before.matchAll(/</g)].map((match) => match.index)
    const at = seams[place % Math.max(seams.length, 1)] ?? 0
    try {
      const text = before.slice(0, at) + piece + before.slice(at)
      await run.fs.writeFile('/edited', text, { ifVersion: version })
      run.edited.push(piece)
      return
    } catch (error) {
      if (!FileSystemError.isInstance(error) || error.code !== 'stale-write') throw error
    }
  }
})

const write = fc.tuple(names, lengths).map(
  ([path, length]): Step =>
    (run) =>
      run.fs.writeFile(path, token(run, length)),
)

/** The same bytes again and again: they share an object. */
const writeSame = names.map(
  (path): Step =>
    (run) =>
      run.fs.writeFile(path, `<same:${'.'.repeat(200)}>`),
)

const stream = fc.tuple(names, lengths).map(
  ([path, length]): Step =>
    (run) =>
      run.fs.writeStream(path, new Blob([token(run, length), token(run, length)]).stream()),
)

const grow = names.map(
  (path): Step =>
    (run) =>
      run.fs.appendFile(path, token(run, 60)),
)

const copy = fc.tuple(fc.constantFrom('/log', '/edited', '/c/one'), names).map(
  ([from, to]): Step =>
    (run) =>
      unlessGone(run.fs.copy(from, to, { overwrite: true })),
)

const move = fc.tuple(names, names).map(
  ([from, to]): Step =>
    (run) =>
      unlessGone(run.fs.move(from, to, { overwrite: true })),
)

const remove = names.map(
  (path): Step =>
    (run) =>
      unlessGone(run.fs.rm(path)),
)

const read = names.map(
  (path): Step =>
    (run) =>
      unlessGone(run.fs.readFile(path)),
)

const readLog: Step = async (run) => void run.seen.push(await textOf(run.fs, '/log'))
const streamLog: Step = async (run) =>
  void run.seen.push(decoder.decode(await collected(await run.fs.readStream('/log'))))

const collect: Step = async (run) => {
  await run.clock.advance(GRACE_MS)
  await run.provider.collect()
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: append },
  { weight: 3, arbitrary: edit },
  { weight: 3, arbitrary: fc.oneof(write, writeSame, stream, grow) },
  { weight: 4, arbitrary: copy },
  { weight: 2, arbitrary: fc.oneof(move, remove) },
  { weight: 2, arbitrary: fc.oneof(read, fc.constant(readLog), fc.constant(streamLog)) },
  { weight: 2, arbitrary: fc.constant(collect) },
)

const WHOLE = /^(<\w+:\.*>)*$/
const tokensOf = (text: string): string[] => text.match(/<\w+:\.*>/g) ?? []

async function checkFiles(run: Run): Promise<void> {
  const log = await textOf(run.fs, '/log')
  expect(tokensOf(log).toSorted()).toEqual(run.appended.toSorted())
  expect(tokensOf(await textOf(run.fs, '/edited')).toSorted()).toEqual(run.edited.toSorted())
  for (const seen of run.seen) expect(log.startsWith(seen)).toBe(true)
  for (const path of await run.fs.glob('**')) expect(await textOf(run.fs, path)).toMatch(WHOLE)
}

let runs = 0

/** Runs all clients at once, and checks what they leave. */
function runClients(
  clients: readonly (readonly Step[])[],
  choices: readonly number[],
): Promise<Run> {
  return inObject(async (storage) => {
    const prefix = `interleaved-${(runs += 1)}`
    const clock = new ManualClock()
    const gates = new Gates(choices)
    const setup = {
      r2Prefix: prefix,
      inlineThresholdBytes: THRESHOLD,
      collectionGraceMs: GRACE_MS,
      clock,
    }
    const provider = createProvider(storage, { ...setup, r2: gatedBucket(env.BUCKET, gates) })
    const opened = await provider.open({ kind: 'cloudflare-filestore' }, session, openOptions())
    const fs = opened.ws.fs as FileSystem
    const run: Run = { fs, provider, clock, appended: [], edited: [], seen: [], tokens: 0 }
    await fs.writeFile('/log', '')
    await fs.writeFile('/edited', '')
    const work = clients.map(async (steps) => {
      for (const act of steps) await act(run)
    })
    await gates.run(work)

    const plain = createProvider(asNewIsolate(storage), { ...setup, r2: env.BUCKET })
    const again = await plain.open({ kind: 'cloudflare-filestore' }, session, openOptions())
    await checkFiles({ ...run, fs: again.ws.fs as FileSystem })
    // In the isolate that did the work: nothing may be held any more.
    await gates.run([
      (async () => {
        await clock.advance(100 * GRACE_MS)
        expect(await provider.collect()).toMatchObject({ failed: 0, nextAt: undefined })
      })(),
    ])
    expect(databaseFaults(storage)).toEqual([])
    expect(await bucketFaults(storage, env.BUCKET, prefix)).toEqual([])
    await checkFiles({ ...run, fs: again.ws.fs as FileSystem })
    return run
  })
}

const clients = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), {
  minLength: 2,
  maxLength: 5,
})
const choices = fc.array(fc.nat(30), { minLength: 1, maxLength: 40 })

const copying: Step = (run) => run.fs.copy('/log', '/c/one')

test('nothing is lost, whoever goes first', { timeout: 180_000 }, async () => {
  const property = fc.asyncProperty(clients, choices, async (steps, picks) => {
    const run = await runClients(steps, picks)
    expect(run.tokens).toBeGreaterThanOrEqual(run.appended.length + run.edited.length)
  })
  await fc.assert(property, { numRuns: sampler.size(150, 15), seed: sampler.seedOf('clients') })
})

test.each([5, 50])('%i appends at once are all there', { timeout: 120_000 }, async (count) => {
  const all = Array.from({ length: count }, () => [appending(30)])
  const run = await runClients(all, [3, 1, 4, 1, 5, 9, 2, 6])
  expect(run.appended).toHaveLength(count)
})

test('a copy that is made while the end of its source goes to the bucket', async () => {
  const run = await runClients([[appending(200)], [copying]], [0])
  expect(run.appended).toHaveLength(1)
})
