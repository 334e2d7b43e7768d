import { stripTypeScriptTypes } from 'node:module'
import { runInThisContext } from 'node:vm'
import { afterEach, describe, expect, test } from 'vitest'
import { mutantsOf } from './mutants.ts'
import { type NumberedMutant, schemaOf } from './schema.ts'
import { parse } from './syntax.ts'
import { RECORDING } from './tests/protocol.ts'

afterEach(() => {
  globalThis.helixMutants = undefined
})

function numbered(text: string): readonly NumberedMutant[] {
  return mutantsOf('a.ts', text).map((mutant, index) => ({ ...mutant, id: index + 1 }))
}

/** What the body of an async function returns with a mutant of it, or how it fails. */
async function run(body: string, active: number): Promise<unknown> {
  globalThis.helixMutants = { active, reached: new Set(), loaded: new Set(), loading: 0 }
  const code = stripTypeScriptTypes(`(async (f) => {\n${body}\n})`)
  const program = runInThisContext(code) as (f: unknown) => Promise<unknown>
  try {
    return await program((...args: unknown[]) => args)
  } catch (error) {
    return String(error)
  }
}

/** `return` stands in a function only, so that the mutants are those of the body. */
function schemaOfBody(body: string, mutants: readonly NumberedMutant[]): string {
  return schemaOf(body, mutants).replace('process.getBuiltinModule', 'none')
}

const bodies = [
  'let a = 1\nlet b = a < 2\na += 3; (globalThis as any).seen = a && b',
  'const f2 = f\nf2(1, 2) || f(3)\nf(await f(1))',
  'const o = { a: 1, b: { ...{ c: 2 } }, d() { return f(1, 2) } } as const\nf(o.d())',
  'for (const a of [1, 2]) if (a > 1) { f(a); break } else continue',
  'outer: for (let i = 0; i < 3; i += 1) { while (true) { if (i > 1) break outer; continue outer } }',
  'const g = (a = 1, { b = 2 } = {}) => a + b\nf(g(), g?.(3), { g }, `${g(1)}`)',
  'class A { x = 1; static y = 2; #z = 3; get z() { return this.#z + 1 } }\nf(new A().z, A.y)',
  'const t: unknown = [1]\nif (Array.isArray(t)) f((t as number[])[0]!, delete (t as any)[0])',
  'switch (f(1).length) { case 1: f(1); break; default: throw new Error("x") }',
  'function* h() { const a = yield 1; return a ?? 2 }\nf([...h()])',
]

describe('all mutants in one program', () => {
  test.each(bodies)('is a program that does what it did: %s', (body) => {
    const schema = schemaOf(body, numbered(body))
    expect(schema).toContain('__mutant(1)')
    expect(() => parse('a.ts', schema)).not.toThrow()
  })

  test.each([
    ['const a = [1, 2]\nlet b = 0\nfor (const c of a) if (c > 1) b += c', 'b'],
    ["let a = 'x'\nlet b = f(a, 1)\nb = [...b, a === 'x']", 'b'],
    ['let b = [] as unknown[]\nconst g = { h: (x: number) => b.push(x) }\ng.h(1)\ng?.h(2)', 'b'],
    ['let b = 1\nlet c = await f(b)\nb = c.length > 1 ? 2 : 3', 'b'],
    ['class A { x = 1; y() { return this.x + 1 } }\nlet b = new A().y()', 'b'],
    ['let b = 0\nouter: for (const x of [1, 2]) { for (;;) { b += x; continue outer } }', 'b'],
  ])('each of which does what its own text does: %s', async (text, result) => {
    const mutants = numbered(text)
    const withResult = (program: string): string => `${program}\n;return ${result}`
    const schema = withResult(schemaOfBody(text, mutants))
    expect(await run(schema, 0)).toEqual(await run(withResult(text), 0))
    expect(mutants.length).toBeGreaterThan(1)
    for (const mutant of mutants) {
      if (isEndless(mutant)) continue
      const { text: alone, id } = mutant
      expect({ alone, result: await run(schema, id) }).toEqual({
        alone,
        result: await run(withResult(alone), 0),
      })
    }
  })

  test('no line moves', () => {
    const text = '#!/usr/bin/env node\nf(1)\n\nf(2)'
    const lines = schemaOf(text, numbered(text)).split('\n')
    expect(lines[0]).toBe('#!/usr/bin/env node')
    expect([lines[1], lines[3]]).toEqual([
      expect.stringContaining('f('),
      expect.stringContaining('f('),
    ])
  })

  test('a file without mutants keeps its text', () => {
    expect(schemaOf('f()', [])).toBe('f()')
  })

  test('a parenthesis never calls the line before', async () => {
    const text = 'let b = f\nf(1, 2) || f(3)\nb = 4 as any'
    const schema = schemaOfBody(text, numbered(text))
    expect(await run(`${schema}\n;return b`, 0)).toBe(4)
  })
})

test('a recording knows what was reached', async () => {
  const text = 'let b = 0\nif (b > 1) f(5)'
  const mutants = numbered(text)
  const schema = schemaOfBody(text, mutants)
  await run(schema, RECORDING)
  const reached = globalThis.helixMutants!.loaded
  const inner = mutants.filter(({ operator }) => operator === 'remove-call').map(({ id }) => id)
  expect(inner).toHaveLength(1)
  expect(reached.has(inner[0]!)).toBe(false)
  expect(reached.size).toBeGreaterThan(1)
})

test('what is reached later is told from what loading reaches', async () => {
  const text = 'let b = 2\nconst g = (c: number) => { b += c * 7 }'
  const mutants = numbered(text)
  await run(`${schemaOfBody(text, mutants)}\n;g(1)`, RECORDING)
  const { loaded, reached, loading } = globalThis.helixMutants!
  expect(loading).toBe(0)
  expect(Math.min(loaded.size, reached.size)).toBeGreaterThan(0)
  const ids = mutants.map(({ id }) => id)
  expect([...loaded, ...reached].toSorted((one, other) => one - other)).toEqual(ids)
})

/** A loop that has lost its end. */
function isEndless({ text }: NumberedMutant): boolean {
  return text.includes('for (;;) { b += x; ; }') || text.includes('for (;;) { ; }')
}
