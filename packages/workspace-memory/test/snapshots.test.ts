import { noopLogger, systemClock } from '@helix-agents/core'
import type { OpenedWorkspace, ResolveOptions } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { InMemoryFileSystem, InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const sampler = new TestSampler()
const config = { kind: 'in-memory' } as const

function optionsOf(sessionId = 's'): ResolveOptions {
  return {
    workspace: 'box',
    session: { sessionId, agentType: 'test' },
    capabilities: {},
    signal: new AbortController().signal,
    logger: noopLogger,
    clock: systemClock,
  }
}

function open(provider: InMemoryWorkspaceProvider, sessionId = 's'): Promise<OpenedWorkspace> {
  return provider.open(config, { sessionId, agentType: 'test' }, optionsOf(sessionId))
}

/** Every path, with the content of files. */
async function listing(fs: InMemoryFileSystem, path = '/'): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await fs.ls(path)) {
    if (entry.type === 'file') found[entry.path] = await fs.readText(entry.path)
    else Object.assign(found, { [`${entry.path}/`]: '' }, await listing(fs, entry.path))
  }
  return found
}

const path = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
  .map((names) => `/${names.join('/')}`)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('write' as const), path, fc.string()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('append' as const), path, fc.string()) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('mkdir' as const), path) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('rm' as const), path) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('move' as const), path, path) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('copy' as const), path, path) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('clear' as const)) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('image' as const)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('restore' as const), fc.nat(9)) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function change(fs: InMemoryFileSystem, [kind, at = '/', other = '']: Step): Promise<void> {
  const [one, two] = [String(at), other]
  if (kind === 'write') await fs.writeFile(one, two)
  if (kind === 'append') await fs.appendFile(one, two)
  if (kind === 'mkdir') await fs.mkdir(one, { recursive: true })
  if (kind === 'rm') await fs.rm(one, { recursive: true })
  if (kind === 'move') await fs.move(one, two, { overwrite: true })
  if (kind === 'copy') await fs.copy(one, two, { overwrite: true })
  if (kind === 'clear') await fs.rm('/', { recursive: true })
}

test('an image never changes, whatever happens to the files it was taken of or restored to', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 60, size: 'max' }),
    async (steps) => {
      let fs = new InMemoryFileSystem()
      const systems = [{ fs, files: {} as Record<string, string> }]
      const images: { readonly image: ReturnType<typeof fs.image>; readonly files: object }[] = []
      for (const each of steps) {
        if (each[0] === 'image') images.push({ image: fs.image(), files: await listing(fs) })
        else if (each[0] === 'restore') {
          const taken = images[each[1] % Math.max(1, images.length)]
          if (taken === undefined) continue
          fs = new InMemoryFileSystem({ image: taken.image })
          systems.push({ fs, files: {} })
        } else {
          // A call that is not possible changes nothing.
          await change(fs, each).catch(() => {})
        }
        const current = systems.find((system) => system.fs === fs)
        if (current !== undefined) current.files = await listing(fs)
      }
      for (const system of systems) expect(await listing(system.fs)).toEqual(system.files)
      for (const { image, files } of images) {
        const restored = new InMemoryFileSystem({ image })
        expect(await listing(restored)).toEqual(files)
        const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
        expect(restored.usedBytes).toBe(bytes)
      }
    },
  )
  await fc.assert(property, { numRuns: sampler.size(5_000, 300), seed: sampler.seedOf('images') })
})

test('a snapshot of many files shares them, and a change copies the directories above it only', async () => {
  const fs = new InMemoryFileSystem()
  for (let i = 0; i < 1_000; i += 1) await fs.writeFile(`/d${i % 10}/f${i}`, 'x')
  const before = fs.image()
  await fs.writeFile('/d3/f3', 'y')
  const { root } = fs.image()
  const shared = [...root.children].filter(
    ([name, node]) => before.root.children.get(name) === node,
  )
  expect(shared.map(([name]) => name)).toEqual(
    Array.from({ length: 10 }, (_, i) => `d${i}`).filter((name) => name !== 'd3'),
  )
})

test('the last 16 snapshots are kept', async () => {
  const { ws } = await open(new InMemoryWorkspaceProvider())
  const refs = []
  for (let i = 0; i <= 16; i += 1) {
    await ws.fs?.writeFile('/n', String(i))
    refs.push(await ws.snapshot!.snapshot())
  }
  await expect(ws.snapshot!.restore(refs[0]!)).rejects.toMatchObject({
    code: 'provider-failed',
    message: expect.stringContaining('there is no such snapshot'),
    hint: expect.stringContaining('The last 16'),
  })
  await expect(ws.snapshot!.restore(refs[1]!)).resolves.toBeDefined()
})

test('snapshots hold no more than the limit of the workspace between the oldest and the newest', async () => {
  const { ws } = await open(new InMemoryWorkspaceProvider({ maxTotalMb: 1 }))
  const half = 'x'.repeat(512 * 1024)
  const refs = []
  for (let i = 0; i < 5; i += 1) {
    await ws.fs?.writeFile('/half', half + i)
    refs.push(await ws.snapshot!.snapshot())
  }
  const kept = await Promise.all(
    refs.map((ref) =>
      ws.snapshot!.restore(ref).then(
        () => true,
        () => false,
      ),
    ),
  )
  expect(kept).toEqual([false, false, false, true, true])
})

test('a workspace that was left for a restored one is freed with it; snapshots with the last one', async () => {
  const provider = new InMemoryWorkspaceProvider()
  const first = await open(provider)
  await first.ws.fs?.writeFile('/a', 'old')
  const snapshot = await first.ws.snapshot!.snapshot()
  const second = await provider.resolve(await first.ws.snapshot!.restore(snapshot), optionsOf())
  // Another session starts from the same snapshot, and has not opened it yet.
  const branch = await second.ws.snapshot!.branch!(snapshot)
  await second.ws.close()
  await expect(first.ws.fs?.readFile('/a')).rejects.toMatchObject({ code: 'lost' })
  await expect(provider.resolve(first.ref, optionsOf())).rejects.toMatchObject({ code: 'lost' })
  const third = await provider.resolve(branch, optionsOf('other'))
  expect(Buffer.from((await third.ws.fs?.readFile('/a')) ?? []).toString()).toBe('old')
  const again = { allowCrossSession: true }
  await expect(third.ws.snapshot!.restore(snapshot)).rejects.toMatchObject({
    code: 'cross-session',
  })
  await expect(third.ws.snapshot!.restore(snapshot, again)).resolves.toBeDefined()
  const left = await open(provider, 'third')
  await third.ws.close()
  await expect(left.ws.snapshot!.restore(snapshot, again)).resolves.toBeDefined()
})
