import { describe, expect, test } from 'vitest'
import { chooseMutants, isProgram, mutantsOf } from './mutants.ts'

const FILE = 'packages/a/src/a.ts'

/** The changed texts that an operator offers. */
function by(operator: string, text: string): readonly string[] {
  const mutants = mutantsOf(FILE, text).filter((mutant) => mutant.operator === operator)
  expect(mutants.every((mutant) => isProgram(mutant))).toBe(true)
  return mutants.map((mutant) => mutant.text)
}

describe('operators', () => {
  test.each([
    ['remove-statement', 'f(); a.b = 1', ['f(); ;']],
    ['remove-statement', 'for (const a of b) if (a) throw a', [';', 'for (const a of b) ;']],
    ['remove-statement', 'const f = () => { return 1 }', ['const f = () => { ; }']],
    [
      'remove-call',
      'f()\nawait g()\nvoid h?.()',
      [';\nawait g()\nvoid h?.()', 'f()\n;\nvoid h?.()'],
    ],
    ['remove-await', 'const a = await f(1)', ['const a = f(1)']],
    ['invert-condition', 'if (a as boolean) f()', ['if (!(a as boolean)) f()']],
    ['invert-condition', 'f(a ? 1 : 2)', ['f(!(a) ? 1 : 2)']],
    [
      'invert-condition',
      'const f = () => { return a === b }',
      ['const f = () => { return !(a === b) }'],
    ],
    ['swap-logic', 'f(a && b)', ['f(((a) || (b)))']],
    ['swap-logic', 'f(a ?? b)', ['f(((a) && (b)))']],
    ['move-boundary', 'f(a > MAX, a + 1)', ['f(((a) >= (MAX)), a + 1)', 'f(a > MAX, ((a) - (1)))']],
    [
      'change-constant',
      "f(1, true, 'x', 'a sentence')",
      [
        "f(2, true, 'x', 'a sentence')",
        "f(1, false, 'x', 'a sentence')",
        "f(1, true, '', 'a sentence')",
      ],
    ],
    ['swap-arguments', 'f(a, b, c); f(a, a); f(...a, b)', ['f(b, a, c); f(a, a); f(...a, b)']],
    [
      'drop-option',
      'f({ ...a, b, c: 1 })',
      ['f({ ...{}, b, c: 1 })', 'f({ ...a, ...{}, c: 1 })', 'f({ ...a, b, ...{} })'],
    ],
  ] as const)('%s: %s', (operator, text, changed) => {
    const offered = by(operator, text)
    expect(offered.slice(0, changed.length)).toEqual(changed)
    expect(offered.every((each) => each !== text)).toBe(true)
  })

  test('change no types, no imports and no names of fields', () => {
    const text = [
      "import { a } from './a.ts'",
      "export { b } from './b.ts'",
      "type T = 'x' | 1 | true",
      "interface I { readonly a: 'y' }",
      'const f = (a: 1 | 2): a is 1 => a',
      "export const c = { 'k': a } satisfies Record<'k', unknown>",
    ].join('\n')
    const mutants = mutantsOf(FILE, text)
    expect(mutants.map(({ operator, line }) => [operator, line])).toEqual([['drop-option', 6]])
  })

  test('swap no arguments whose order means nothing', () => {
    expect(by('swap-arguments', 'f(Math.max(a, b), Math.min(c, d))')).toEqual([
      'f(Math.min(c, d), Math.max(a, b))',
    ])
  })

  test('tell the line of a change', () => {
    expect(mutantsOf(FILE, 'f()\n\ng()').map(({ line }) => line)).toEqual([1, 3])
  })
})

describe('the choice', () => {
  const text = 'if (a > 1 && b) f(c, d)\nawait g({ ...h, i: true })\n'.repeat(5)
  const mutants = mutantsOf(FILE, text)

  test('depends on the seed alone, and a larger one goes on with a smaller one', () => {
    const ten = chooseMutants(mutants, 10, 7)
    expect(ten).toHaveLength(10)
    expect(new Set(ten).size).toBe(10)
    expect(chooseMutants(mutants, 20, 7).slice(0, 10)).toEqual(ten)
    expect(chooseMutants(mutants, 10, 8)).not.toEqual(ten)
  })

  test('takes all there are when there are fewer', () => {
    expect(chooseMutants(mutants, 10_000, 1)).toHaveLength(mutants.length)
  })

  test('leaves out what is no program', () => {
    const broken = { file: FILE, text: 'if (' }
    const [mutant] = mutantsOf(FILE, 'f()')
    expect(chooseMutants([{ ...mutant!, ...broken }], 5, 1)).toEqual([])
    expect(isProgram(broken)).toBe(false)
  })
})
