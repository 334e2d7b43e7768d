import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FileVersions } from '../../../../src/modules/fs/versions/file-versions.ts'

describe('FileVersions', () => {
  it('notices a version that the agent has not seen, and who wrote it', () => {
    const ledger = new FileVersions()
    expect(ledger.check('a', '/f', 'v1')).toBeUndefined()
    ledger.recordRead('a', '/f', 'v1')
    expect(ledger.check('a', '/f', 'v1')).toBeUndefined()
    ledger.recordWrite('b', '/f', 'v2')
    expect(ledger.check('a', '/f', 'v2')).toEqual({ writer: 'b' })
    expect(ledger.check('b', '/f', 'v2')).toBeUndefined()
    expect(ledger.check('a', '/f', 'v3')).toEqual({})
  })

  it('adds up ranges of one version', () => {
    const ledger = new FileVersions()
    ledger.recordRead('a', '/f', 'v1', { first: 1, last: 10, total: 30 })
    ledger.recordRead('a', '/f', 'v1', { first: 21, last: 30, total: 30 })
    expect(ledger.knows('a', '/f')).toBe(false)
    expect(ledger.knows('a', '/f', [5, 10])).toBe(true)
    expect(ledger.knows('a', '/f', [10, 11])).toBe(false)
    ledger.recordRead('a', '/f', 'v1', { first: 11, last: 20, total: 30 })
    expect(ledger.knows('a', '/f')).toBe(true)
    ledger.recordRead('a', '/f', 'v2', { first: 1, last: 1, total: 30 })
    expect(ledger.knows('a', '/f')).toBe(false)
  })

  it('keeps what lies above an edit', () => {
    const ledger = new FileVersions()
    ledger.recordRead('a', '/f', 'v1', { first: 1, last: 20, total: 99 })
    ledger.recordWrite('a', '/f', 'v2', [8, 9])
    expect(ledger.knows('a', '/f', [1, 9])).toBe(true)
    expect(ledger.knows('a', '/f', [10, 10])).toBe(false)
    expect(ledger.check('a', '/f', 'v2')).toBeUndefined()
  })

  it('forgets and renames whole subtrees, and nothing beside them', () => {
    const ledger = new FileVersions()
    for (const path of ['/a', '/a/x', '/a0', '/b/y']) ledger.recordWrite('m', path, 'v1')
    ledger.rename('/b', '/c')
    ledger.revise('/c/y', 'v1', 'v9')
    ledger.forget('/a')
    expect(['/a', '/a/x', '/a0', '/b/y', '/c/y'].filter((p) => ledger.hasSeen('m', p))).toEqual([
      '/a0',
      '/c/y',
    ])
    expect(ledger.check('m', '/c/y', 'v9')).toBeUndefined()
  })

  it('survives storage', () => {
    const ledger = new FileVersions()
    ledger.recordRead('a', '/f', 'v1', { first: 2, last: 3, total: 9 })
    ledger.recordWrite('__proto__', '/__proto__', 'v2')
    const stored = JSON.stringify(ledger.takeChanges())
    const copy = new FileVersions(JSON.parse(stored))
    expect(JSON.stringify(copy.snapshot())).toBe(stored)
    expect(copy.check('a', '/__proto__', 'v2')).toBeUndefined()
    expect(copy.knows('a', '/f', [2, 3])).toBe(true)
  })

  it('has changes only after changes', () => {
    const ledger = new FileVersions()
    expect(ledger.takeChanges()).toBeUndefined()
    ledger.recordRead('a', '/f', 'v1')
    expect(ledger.takeChanges()?.known).toEqual({ a: { '/f': { version: 'v1' } } })
    ledger.recordRead('a', '/f', 'v1')
    expect(ledger.takeChanges()).toBeUndefined()
    ledger.recordRead('a', '/f', 'v2')
    expect(ledger.takeChanges()).toBeDefined()
  })

  it('stays small, and forgets what was not used for longest', () => {
    const ledger = new FileVersions()
    for (let i = 0; i < 5000; i += 1) {
      ledger.recordRead('a', `/f${i}`, 'v1')
      ledger.recordRead('a', '/hot', 'v1')
      ledger.recordWrite(`agent${i}`, `/g${i}`, 'v1')
    }
    const { known, writers } = ledger.snapshot()
    expect(Object.keys(known)).toHaveLength(100)
    expect(Object.keys(writers)).toHaveLength(2000)
    ledger.recordRead('a', '/x', 'v1')
    expect(Object.keys(ledger.snapshot().known.a!).length).toBeLessThanOrEqual(2000)
    expect(ledger.hasSeen('a', '/hot')).toBe(true)
    expect(ledger.hasSeen('a', '/f0')).toBe(false)
  })

  it('drops from what was stored what is more than it keeps', () => {
    const paths = Array.from({ length: 2001 }, (_, i) => [`/f${i}`, { version: 'v1' }] as const)
    const writers = paths.map(([path]) => [path, { actor: 'a', version: 'v1' }] as const)
    const stored = {
      known: { a: Object.fromEntries(paths) },
      writers: Object.fromEntries(writers),
    }
    const ledger = new FileVersions(stored)
    expect(ledger.hasSeen('a', '/f0')).toBe(false)
    expect(ledger.hasSeen('a', '/f1')).toBe(true)
    expect(Object.keys(ledger.snapshot().writers)).toHaveLength(2000)
    expect(ledger.takeChanges()).toBeUndefined()
  })

  it('remembers the last hundred parts of a file', () => {
    const ledger = new FileVersions()
    for (let line = 1; line <= 101; line += 1) {
      ledger.recordRead('a', '/f', 'v1', { first: 2 * line, last: 2 * line, total: 999 })
    }
    expect(ledger.knows('a', '/f', [2, 2])).toBe(false)
    expect(ledger.knows('a', '/f', [4, 4])).toBe(true)
    expect(ledger.knows('a', '/f', [202, 202])).toBe(true)
  })

  it('moves what each agent knows, and who wrote it, over what was there', () => {
    const ledger = new FileVersions()
    ledger.recordRead('a', '/old/f', 'v1', { first: 1, last: 2, total: 9 })
    ledger.recordWrite('b', '/old/f', 'v2')
    ledger.recordWrite('b', '/new/gone', 'v1')
    ledger.rename('/old', '/new')
    expect(ledger.hasSeen('b', '/new/gone')).toBe(false)
    expect(ledger.check('a', '/new/f', 'v2')).toEqual({ writer: 'b' })
    expect(ledger.knows('a', '/new/f', [1, 2])).toBe(true)
    expect(ledger.knows('a', '/new/f')).toBe(false)
    ledger.revise('/new/f', 'v2', 'v3')
    expect(ledger.check('a', '/new/f', 'v3')).toEqual({ writer: 'b' })
    expect(ledger.check('b', '/new/f', 'v3')).toBeUndefined()
    // Not the version that was moved: nothing is known of it.
    ledger.revise('/new/f', 'v2', 'v4')
    expect(ledger.check('b', '/new/f', 'v4')).toEqual({})
  })

  it('stores changes that move, forget and revise', () => {
    const ledger = new FileVersions()
    ledger.recordWrite('a', '/f', 'v1')
    ledger.takeChanges()
    ledger.revise('/f', 'v1', 'v1')
    expect(ledger.takeChanges()).toBeUndefined()
    ledger.revise('/f', 'v1', 'v2')
    expect(ledger.takeChanges()?.known.a).toEqual({ '/f': { version: 'v2' } })
    ledger.rename('/f', '/g')
    expect(ledger.takeChanges()?.writers).toEqual({ '/g': { actor: 'a', version: 'v2' } })
    ledger.forget('/g')
    expect(ledger.takeChanges()).toEqual({ known: { a: {} }, writers: {} })
  })

  it('knows after a write what the writer knew before, or the lines it wrote', () => {
    const ledger = new FileVersions()
    ledger.recordRead('a', '/f', 'v1', { first: 1, last: 2, total: 9 })
    ledger.recordWrite('a', '/f', 'v2', 'before')
    expect(ledger.knows('a', '/f', [1, 2])).toBe(true)
    expect(ledger.knows('a', '/f', [1, 3])).toBe(false)
    ledger.recordWrite('a', '/unseen', 'v1', 'before')
    expect(ledger.hasSeen('a', '/unseen')).toBe(false)
    ledger.recordWrite('a', '/unseen', 'v2', [4, 5])
    expect(ledger.knows('a', '/unseen', [4, 5])).toBe(true)
    expect(ledger.knows('a', '/unseen')).toBe(false)
    ledger.recordWrite('a', '/whole', 'v1')
    ledger.recordWrite('a', '/whole', 'v2', [4, 5])
    ledger.recordWrite('a', '/whole', 'v3', 'before')
    expect(ledger.knows('a', '/whole')).toBe(true)
    expect(ledger.check('a', '/whole', 'v3')).toBeUndefined()
  })

  it('lists the files seen last first, and looks do not count', () => {
    const ledger = new FileVersions()
    for (const path of ['/1', '/2', '/3']) ledger.recordRead('a', path, 'v1')
    ledger.check('a', '/2', 'v1')
    ledger.recordRead('a', '/1', 'v1')
    const paths = (limit: number): string[] => ledger.recent('a', limit).map(([path]) => path)
    expect(paths(2)).toEqual(['/1', '/3'])
    expect(paths(9)).toEqual(['/1', '/3', '/2'])
    expect(ledger.recent('nobody', 9)).toEqual([])
  })

  it('changes a path in turn, whatever became of the change before', async () => {
    const ledger = new FileVersions()
    const order: string[] = []
    const gate = Promise.withResolvers<void>()
    const first = ledger.inOrder('/f', async () => {
      await gate.promise
      order.push('first')
      throw new Error('failed')
    })
    const second = ledger.inOrder('/f', () => Promise.resolve(order.push('second')))
    const third = ledger.inOrder('/f', () => Promise.resolve(order.push('third')))
    await ledger.inOrder('/g', () => Promise.resolve(order.push('other')))
    gate.resolve()
    await expect(first).rejects.toThrow('failed')
    await Promise.all([second, third])
    expect(order).toEqual(['other', 'first', 'second', 'third'])
  })

  it('agrees with a model', () => {
    const line = fc.integer({ min: 1, max: 8 })
    const step = fc.record({
      kind: fc.constantFrom('read', 'write', 'outside', 'rm'),
      who: fc.constantFrom('a', 'b'),
      file: fc.constantFrom('/f', '/g'),
      first: line,
      last: line,
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const model = new LedgerModel()
        let ledger = new FileVersions()
        for (const each of steps) {
          model.apply(ledger, each)
          if (model.clock % 5 === 4) ledger = new FileVersions(ledger.snapshot())
          for (const who of ['a', 'b']) {
            expect(model.observe(ledger, who, each)).toEqual(model.expected(who, each))
          }
        }
      }),
    )
  })
})

interface Step {
  readonly kind: string
  readonly who: string
  readonly file: string
  readonly first: number
  readonly last: number
}

/** What each agent has seen, as plain sets of lines of files with eight lines. */
class LedgerModel {
  clock = 0
  readonly #versions = new Map<string, number>()
  readonly #seen = new Map<string, { version: number; lines: Set<number> }>()

  apply(ledger: FileVersions, step: Step): void {
    const { kind, who, file } = step
    if (kind === 'read') return this.#read(ledger, step)
    if (kind === 'rm') {
      ledger.forget(file)
      for (const each of ['a', 'b']) this.#seen.delete(each + file)
      return
    }
    this.clock += 1
    this.#versions.set(file, this.clock)
    if (kind === 'outside') return
    ledger.recordWrite(who, file, `${this.clock}`)
    this.#seen.set(who + file, { version: this.clock, lines: new Set([1, 2, 3, 4, 5, 6, 7, 8]) })
  }

  observe(ledger: FileVersions, who: string, { file, first }: Step): boolean[] {
    const isStale = ledger.check(who, file, `${this.#version(file)}`) !== undefined
    return [isStale, ledger.knows(who, file), ledger.knows(who, file, [first, first])]
  }

  expected(who: string, { file, first }: Step): boolean[] {
    const known = this.#seen.get(who + file)
    if (known === undefined) return [false, false, false]
    const { version, lines } = known
    return [version !== this.#version(file), lines.size === 8, lines.has(first)]
  }

  #read(ledger: FileVersions, step: Step): void {
    const { who, file } = step
    const version = this.#version(file)
    const first = Math.min(step.first, step.last)
    const last = Math.max(step.first, step.last)
    ledger.recordRead(who, file, `${version}`, { first, last, total: 8 })
    const old = this.#seen.get(who + file)
    const entry = old?.version === version ? old : { version, lines: new Set<number>() }
    for (let i = first; i <= last; i += 1) entry.lines.add(i)
    this.#seen.set(who + file, entry)
  }

  #version(file: string): number {
    return this.#versions.get(file) ?? 0
  }
}
