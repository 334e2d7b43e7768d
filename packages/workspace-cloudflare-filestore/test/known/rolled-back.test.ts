// Several handles on one database, each with a storage object of its own, and a host that rolls a
// transaction back around one of them: nobody ever reads or replaces what it has not seen.
import type { FileStat, FileSystem } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codeOf } from '../code-of.ts'
import { databaseFaults } from '../crash/audit.ts'
import { asNewIsolate, inObject, openFiles, rolledBack, wrapped } from '../objects.ts'

const sampler = new TestSampler()

async function twoHandles(
  storage: DurableObjectStorage,
): Promise<{ readonly one: FileSystem; readonly other: FileSystem }> {
  return { one: await openFiles(wrapped(storage)), other: await openFiles(wrapped(storage)) }
}

test('what was rolled back is not taken for what another handle stored after it', async () => {
  await inObject(async (storage) => {
    const { one, other } = await twoHandles(storage)
    await one.writeFile('/a', 'old')
    const never = await rolledBack(storage, () => one.writeFile('/a', 'never stored'))
    const { version } = await other.writeFile('/a', 'stored')
    expect(version).not.toBe(never.version)
    expect(await one.stat('/a')).toMatchObject({ size: 6, version })
    expect(await one.readText?.('/a')).toBe('stored')
    const stale = one.writeFile('/a', 'blind', { ifVersion: never.version })
    expect(await codeOf(stale)).toBe('stale-write')
    expect(await other.readText?.('/a')).toBe('stored')
  })
})

test('a new file that was rolled back is not the next one that another handle makes', async () => {
  await inObject(async (storage) => {
    const { one, other } = await twoHandles(storage)
    await one.writeFile('/a', 'old')
    await rolledBack(storage, () => one.writeFile('/never', 'never stored'))
    await other.writeFile('/b', 'stored')
    expect(await codeOf(one.readFile('/never'))).toBe('not-found')
    await one.writeFile('/never', 'new')
    expect(await other.readText?.('/b')).toBe('stored')
    expect(await one.readText?.('/never')).toBe('new')
    expect(databaseFaults(storage)).toEqual([])
  })
})

test('a stream on what was rolled back reads nothing of what comes after', async () => {
  await inObject(async (storage) => {
    const { one, other } = await twoHandles(storage)
    const stream = await rolledBack(storage, async () => {
      const stored = one.writeFile('/never', 'x'.repeat(100_000))
      const opened = one.readStream('/never')
      await stored
      return opened
    })
    await other.writeFile('/b', 'y'.repeat(100_000))
    expect(await codeOf(stream.getReader().read())).toBe('content-missing')
    expect(await other.readText?.('/b')).toBe('y'.repeat(100_000))
  })
})

const at = fc.constantFrom('/a', '/b', '/d/a')
const act = fc.record({
  kind: fc.constantFrom('write', 'write', 'swap', 'swap', 'append', 'rm', 'move', 'stat'),
  at,
  to: at,
  /** Which of the versions that were seen of the path. */
  pick: fc.nat(20),
})
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never
const turn = fc.record({
  by: fc.nat(2),
  isRolledBack: fc.boolean(),
  steps: fc.array(act, { minLength: 1, maxLength: 3 }),
})

/** What anybody was ever told: which text a version of a path names, also one that was undone. */
class Witness {
  readonly #seen = new Map<string, Map<string, string>>()
  #count = 0

  /** No two writes have the same text. */
  nextText(): string {
    this.#count += 1
    return `text ${this.#count}`
  }

  saw({ path, version }: FileStat, text: string): void {
    const versions = this.#seen.get(path) ?? new Map<string, string>()
    const before = versions.get(version) ?? text
    if (before !== text) throw new Error(`${path} ${version}: ${before}, then ${text}`)
    this.#seen.set(path, versions.set(version, text))
  }

  pick(path: string, index: number): readonly [version: string, text: string] | undefined {
    const versions = [...(this.#seen.get(path) ?? [])]
    return versions[index % Math.max(1, versions.length)]
  }
}

/** Does an act, and tells the witness what it said. */
const acts: Readonly<
  Record<Act['kind'], (fs: FileSystem, step: Act, witness: Witness) => Promise<unknown>>
> = {
  async write(fs, { at: path }, witness) {
    const text = witness.nextText()
    witness.saw(await fs.writeFile(path, text), text)
  },
  async swap(fs, { at: path, pick }, witness) {
    const [ifVersion, seen] = witness.pick(path, pick) ?? []
    if (ifVersion === undefined) return
    const text = witness.nextText()
    const before = fs.readText?.(path).catch(() => undefined)
    const swapped = fs.writeFile(path, text, { ifVersion })
    // A write that is let through has replaced exactly what its writer has seen.
    witness.saw(await swapped, text)
    expect(await before).toBe(seen)
  },
  async stat(fs, { at: path }, witness) {
    const [stat, text] = await Promise.all([fs.stat(path), fs.readText?.(path)])
    witness.saw(stat, text ?? '')
  },
  append: (fs, { at: path }, witness) => fs.appendFile(path, witness.nextText()),
  rm: (fs, { at: path }) => fs.rm(path),
  move: (fs, { at: path, to }) => fs.move(path, to, { overwrite: true }),
}

test('a write goes only over what its writer has seen', { timeout: 120_000 }, async () => {
  const property = fc.asyncProperty(fc.array(turn, { minLength: 3, maxLength: 25 }), (turns) =>
    inObject(async (storage) => {
      const witness = new Witness()
      const { one, other } = await twoHandles(storage)
      const handles = [one, other, await openFiles(storage)]
      for (const { by, isRolledBack, steps } of turns) {
        const fs = handles[by]
        if (fs === undefined) throw new Error('there is no such handle')
        const run = (): Promise<unknown> =>
          Promise.all(
            steps.map((next) => codeOf(acts[next.kind](fs, next, witness)).then(assertOurs)),
          )
        await (isRolledBack ? rolledBack(storage, run) : run())
        for (const path of await fs.glob('**')) {
          const fresh = await openFiles(asNewIsolate(storage))
          const [stat, text] = [await fresh.stat(path), (await fresh.readText?.(path)) ?? '']
          witness.saw(stat, text)
          for (const handle of handles) {
            expect([await handle.stat(path), await handle.readText?.(path)]).toEqual([stat, text])
          }
        }
      }
      expect(databaseFaults(storage)).toEqual([])
    }),
  )
  await fc.assert(property, { numRuns: sampler.size(60, 15), seed: sampler.seedOf('roll backs') })
})

function assertOurs(code: string | undefined): void {
  if (code?.startsWith('not of the library')) throw new Error(code)
}
