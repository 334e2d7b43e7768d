import { StateStoreError } from '../../src/errors/state-store-error.ts'
import { expect, test } from 'vitest'
import { assertStorable, assertStorableIds } from '../../src/state/assert-storable.ts'
import { parseCount, parsePageQuery, toCursor } from '../../src/state/page-query.ts'
import { findForeignData } from '../../src/workspace/plain-json.ts'

const long = 'x'.repeat(1025)
const deep = (depth: number) =>
  Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 'x')
const user = { role: 'user', content: 'x' }
const session = { sessionId: 's' }

/** The problem of a write; undefined: it can be stored. */
function problemOf(write: object): string | undefined {
  try {
    assertStorable({ ...session, ...write })
    return undefined
  } catch (error) {
    if (StateStoreError.isInstance(error) && error.code === 'not-storable') return error.message
    throw error
  }
}

const idProblem = (name: string) => `${name} must be a text of at most 1024 characters`

const IDS =
  'sessionId runId agentType parentSessionId toolCallId toolName workspace userId requestId askingSessionId subject by messageId'

test.each(IDS.split(' '))('%s is an id', (name) => {
  expect(problemOf({ [name]: long })).toContain(idProblem(name))
  expect(problemOf({ [name]: 1 })).toContain(idProblem(name))
  expect(problemOf({ [name]: long.slice(1) })).toBeUndefined()
})

test('the id of a checkpoint holds that of its session', () => {
  expect(problemOf({ checkpointId: 'x'.repeat(2224) })).toBeUndefined()
  expect(problemOf({ checkpointId: 'x'.repeat(2225) })).toContain(idProblem('checkpointId'))
  expect(problemOf({ checkpointId: 1 })).toContain(idProblem('checkpointId'))
})

test.each([
  'metadata',
  'output',
  'error',
  'arguments',
  'preview',
  'resolution',
  'ref',
  'workspaceSnapshots',
])('%s is a value of 256 levels', (name) => {
  const given = name === 'resolution' ? { decision: 'approve', output: 1 } : deep(256)
  expect(problemOf({ [name]: given })).toBeUndefined()
  expect(problemOf({ [name]: deep(257) })).toContain(`${name} is nested more than 256 levels deep`)
  expect(problemOf({ [name]: 1n })).toContain(`${name} is no plain JSON`)
})

test.each(['customState', 'outcome', 'finish'])('%s wraps a value of 256 levels', (name) => {
  expect(problemOf({ [name]: deep(257) })).toBeUndefined()
  expect(problemOf({ [name]: deep(258) })).toContain(`${name} is nested`)
})

test.each([
  ['messages', { messages: [user, 'x'] }, 'what is to be stored is no message'],
  ['a message', { messages: [{ ...user, metadata: { a: 1n } }] }, 'a message is no plain JSON'],
  [
    'an id in a message',
    { messages: [{ role: 'tool', toolCallId: long, toolName: 't', content: '' }] },
    idProblem('an id in a message'),
  ],
  ['tags', { tags: ['a', long] }, idProblem('a tag')],
  ['tags that are no list', { tags: 'a' }, idProblem('a tag')],
  ['many tags', { tags: Array(1001).fill('a') }, idProblem('a tag')],
  ['an entry of the journal', { journal: [{}, { toolCallId: long }] }, idProblem('toolCallId')],
  ['its message', { journal: [{ message: 1 }] }, 'what is to be stored is no message'],
  ['its result', { journal: [{ result: { message: 1 } }] }, 'what is to be stored is no message'],
  ['its finish', { journal: [{ result: { finish: 1n } }] }, 'finish is no plain JSON'],
  ['requests', { requests: [{}, { requestId: long }] }, idProblem('requestId')],
  [
    'the path of a request',
    { requests: [{ agentPath: [long] }] },
    idProblem('the name of an agent'),
  ],
  ['a result', { result: { message: 1 } }, 'what is to be stored is no message'],
  ['a resolution', { resolution: { decision: 'maybe' } }, 'what is to be stored is no decision'],
  ['who resolved', { resolution: { decision: 'deny', by: long } }, idProblem('by')],
  ['a queued message', { message: 1 }, 'what is to be stored is no message'],
  [
    'a queued answer',
    { message: { role: 'assistant', content: '' } },
    'only messages of the user are queued',
  ],
])('%s may be refused', (_what, write, problem) => {
  expect(problemOf(write)).toContain(problem)
})

test.each([
  { messages: [user], tags: Array(1000).fill('a'), message: user },
  { journal: [{ toolCallId: 'c', message: user, result: { message: user } }, { result: null }] },
  { requests: [{ requestId: 'r', agentPath: ['a', 'b'] }, {}] },
  { result: {} },
  ...['approve', 'deny', 'output', 'expired', 'cancelled'].map((decision) => ({
    resolution: { decision },
  })),
])('%j can be stored', (write) => {
  expect(problemOf(write)).toBeUndefined()
})

test('a refusal names the session, unless its id cannot be stored', () => {
  const nameOf = (sessionId: string) => {
    try {
      assertStorable({ sessionId, messageId: long })
    } catch (error) {
      return (error as { sessionId: string }).sessionId
    }
    return undefined
  }
  expect([nameOf('s'), nameOf(long)]).toEqual(['s', ''])
  expect(() => assertStorableIds('a', long)).toThrow(idProblem('an id'))
  expect(() => assertStorableIds('a', 'b')).not.toThrow()
})

test('a page has 50 items, at most 200, and begins at its cursor', () => {
  const whole = { below: Number.MAX_SAFE_INTEGER, above: -1 }
  expect(parsePageQuery({})).toEqual({ limit: 50, ...whole })
  expect(parsePageQuery({ limit: 201 })).toEqual({ limit: 200, ...whole })
  expect(parsePageQuery({ limit: 1, cursor: toCursor(71) })).toEqual({
    limit: 1,
    below: 71,
    above: 71,
  })
  for (const cursor of ['', 'A', 'a'.repeat(11), '-1']) {
    expect(() => parsePageQuery({ cursor }, 's')).toThrow('the cursor is not one of this list')
  }
  expect(() => parsePageQuery({ limit: 0 }, 's')).toThrow('0 is not a usable limit or offset')
})

test('a count is a whole number, not below the least one', () => {
  expect([parseCount(undefined, 1, ''), parseCount(0, 0, ''), parseCount(3, 3, '')]).toEqual([
    undefined,
    0,
    3,
  ])
  for (const [value, least] of [
    [2, 3],
    [1.5, 0],
    [NaN, 0],
    [2 ** 53, 0],
  ] as const) {
    expect(() => parseCount(value, least, 's')).toThrow(`${value} is not a usable limit or offset`)
  }
})

test.each([
  [{ a: [1, 'x', true, null, undefined] }, undefined],
  [Object.create(null), undefined],
  [NaN, 'ref: is not JSON but number'],
  [1n, 'ref: is not JSON but bigint'],
  [{ a: { b: () => 1 } }, 'a.b: is not JSON but function'],
  [{ a: new Date(0) }, 'a: is not a plain object'],
  [{ a: [new Map()] }, 'a.0: is not a plain object'],
  [JSON.parse('{"a":{"__proto__":1}}'), 'a.__proto__: is not allowed as a key'],
  [{ constructor: 1 }, 'constructor: is not allowed as a key'],
  [{ prototype: 1 }, 'prototype: is not allowed as a key'],
  [{ ['x'.repeat(70)]: 1n }, `${'x'.repeat(64)}: is not JSON but bigint`],
  [{ a: { ['x'.repeat(70)]: 1n } }, `a.${'x'.repeat(64)}: is not JSON but bigint`],
  [deep(32), undefined],
  [deep(33), `${Array(33).fill('0').join('.')}: is nested more than 32 levels deep`],
])('foreign data, number %#', (value, problem) => {
  expect(findForeignData(value)).toBe(problem)
})
