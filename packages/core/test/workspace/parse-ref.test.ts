import { parseProviderRef, parseWorkspaceRef, type WorkspaceRef } from '@helix-agents/core/provider'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'

const good = {
  providerId: 'disk',
  schemaVersion: 3,
  capabilities: { fs: true, shell: false },
  ref: { id: 'a', nested: { list: [1, 'two', null] } },
}

function codeOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return 'no error'
}

describe('parseWorkspaceRef', () => {
  test('gives back what JSON brought', () => {
    expect(parseWorkspaceRef(JSON.parse(JSON.stringify(good)))).toEqual(good)
  })

  test('takes any JSON as the data of the provider', () => {
    for (const ref of [null, 'text', 0, false, [], {}]) {
      expect(parseWorkspaceRef({ ...good, ref }).ref).toEqual(ref)
    }
  })

  test('leaves absent flags absent', () => {
    expect(Object.keys(parseWorkspaceRef({ ...good, capabilities: {} }).capabilities)).toEqual([])
  })

  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', '{}'],
    ['a list', []],
    ['an empty object', {}],
    ['a missing schemaVersion', { ...good, schemaVersion: undefined }],
    ['a textual schemaVersion', { ...good, schemaVersion: '3' }],
    ['a broken schemaVersion', { ...good, schemaVersion: 1.5 }],
    ['a negative schemaVersion', { ...good, schemaVersion: -1 }],
    ['an infinite schemaVersion', { ...good, schemaVersion: Number.POSITIVE_INFINITY }],
    ['an empty providerId', { ...good, providerId: '' }],
    ['a number as providerId', { ...good, providerId: 7 }],
    ['no data', { providerId: 'disk', schemaVersion: 3, capabilities: {} }],
    ['an unknown field', { ...good, extra: 1 }],
    ['an unknown capability', { ...good, capabilities: { gpu: true } }],
    ['a truthy capability', { ...good, capabilities: { fs: 1 } }],
    ['capabilities as a list', { ...good, capabilities: ['fs'] }],
    [
      '__proto__ at the top',
      JSON.parse(
        '{"__proto__":{},"providerId":"disk","schemaVersion":3,"capabilities":{},"ref":{}}',
      ),
    ],
    [
      '__proto__ in the capabilities',
      { ...good, capabilities: JSON.parse('{"__proto__":{"fs":true}}') },
    ],
    [
      '__proto__ deep in the data',
      { ...good, ref: { list: [JSON.parse('{"__proto__":{"a":1}}')] } },
    ],
    ['constructor in the data', { ...good, ref: { constructor: { prototype: {} } } }],
    ['prototype in the data', { ...good, ref: { prototype: 1 } }],
    ['a function in the data', { ...good, ref: { run: () => 1 } }],
    ['a class instance', { ...good, ref: new Map() }],
    ['a cycle', { ...good, ref: cyclic }],
    ['a bigint', { ...good, ref: 1n }],
    ['not a number', { ...good, ref: Number.NaN }],
  ])('refuses %s', (_, value) => {
    expect(codeOf(() => parseWorkspaceRef(value))).toBe('ref-invalid')
  })

  test('a hostile ref cannot flood the message', () => {
    const value = { ...good, ['x'.repeat(100_000)]: 1 }
    expect(() => parseWorkspaceRef(value)).toThrow(/^.{1,700}$/s)
  })
})

function idFromName(old: unknown) {
  return { id: (old as { name: string }).name }
}

describe('parseProviderRef', () => {
  const schema = z.strictObject({
    id: z.string(),
    place: z.strictObject({ root: z.string() }).optional(),
  })
  const read = (ref: Partial<WorkspaceRef>, upcast?: (payload: unknown) => unknown) =>
    parseProviderRef({
      ref: { ...good, ref: { id: 'a' }, ...ref },
      providerId: 'disk',
      schemaVersion: 3,
      schema,
      ...(upcast && { upcast }),
    })

  test('reads the current version', () => {
    expect(read({})).toEqual({ id: 'a' })
  })

  test('upcasts the version before', () => {
    expect(read({ schemaVersion: 2, ref: { name: 'b' } }, idFromName)).toEqual({ id: 'b' })
  })

  test('changes neither this version nor the next', () => {
    expect(read({}, idFromName)).toEqual({ id: 'a' })
    expect(read({ schemaVersion: 4 }, idFromName)).toEqual({ id: 'a' })
  })

  test('reads the version before as it is when the shape did not change', () => {
    expect(read({ schemaVersion: 2 })).toEqual({ id: 'a' })
  })

  test('an upcast that throws is an invalid ref and keeps its cause', () => {
    const cause = new Error('no such shape')
    const run = () =>
      read({ schemaVersion: 2 }, () => {
        throw cause
      })
    expect(run).toThrow(expect.objectContaining({ code: 'ref-invalid', cause }))
  })

  test('of the next version it reads the fields it knows, at every depth', () => {
    const ref = { id: 'a', place: { root: '/x', region: 'eu' }, later: [1] }
    expect(read({ schemaVersion: 4, ref })).toEqual({ id: 'a', place: { root: '/x' } })
    expect(ref).toEqual({ id: 'a', place: { root: '/x', region: 'eu' }, later: [1] })
  })

  test.each<[string, Partial<WorkspaceRef>]>([
    ['an unknown field', { ref: { id: 'a', later: 1 } }],
    ['an unknown field in an old version', { schemaVersion: 2, ref: { id: 'a', later: 1 } }],
    ['a wrong type', { ref: { id: 1 } }],
    ['a wrong type in the next version', { schemaVersion: 4, ref: { id: 1, later: 1 } }],
    ['a known field that is wrong after dropping', { schemaVersion: 4, ref: { later: 1 } }],
    ['a ref of another provider', { providerId: 'memory' }],
    ['a prototype key', { schemaVersion: 4, ref: JSON.parse('{"id":"a","__proto__":{}}') }],
  ])('refuses %s', (_, ref) => {
    expect(codeOf(() => read(ref))).toBe('ref-invalid')
  })

  test.each([0, 1, 5, 99])('refuses version %i and names the range', (schemaVersion) => {
    const run = () => read({ schemaVersion })
    expect(codeOf(run)).toBe('ref-version')
    expect(run).toThrow(/schemaVersion/)
    expect(run).toThrow(new RegExp(`\\b${schemaVersion}\\b.*2 to 4`))
  })
})
