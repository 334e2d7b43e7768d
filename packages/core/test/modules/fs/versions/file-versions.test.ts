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
