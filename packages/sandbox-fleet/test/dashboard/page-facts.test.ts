// What the page says of sandboxes, and which of them it shows in which order: without a browser.
import { describe, expect, test } from 'vitest'
import { activityBars, ageBars } from '../../src/dashboard/page/bars.ts'
import {
  isActive,
  mattersOf,
  ownerOf,
  resourcesOf,
  severityName,
  severityOf,
} from '../../src/dashboard/page/facts.ts'
import { formatMinutes, formatPercent, formatWhen } from '../../src/dashboard/page/format.ts'
import { remarksOf, sentenceOfPass } from '../../src/dashboard/page/outcome.ts'
import { compareSandboxes, isSelected } from '../../src/dashboard/page/selection.ts'
import type { WirePass, WireSandbox } from '../../src/http/wire.ts'
import { isoOf, NOW, OWED, sandbox } from './wire-samples.ts'

const ago = (minutes: number): string => isoOf(NOW - minutes * 60_000)

const oldest = (age_minutes: number): string | undefined =>
  ageBars([sandbox({ age_minutes })]).caption.split('; ')[1]

const finding = (severity: 'warning' | 'critical') =>
  ({ code: 'stuck', severity, reason: 'It is stuck.', action: 'End it.' }) as const

test.each([
  [-1, '0 s'],
  [0.99, '59 s'],
  [1, '1 min'],
  [119.4, '119 min'],
  [120, '2 h'],
  [210, '3.5 h'],
  [2879, '48 h'],
  [2880, '2 d'],
  [3024, '2.1 d'],
])('%s minutes are %s', (minutes, text) => {
  expect(formatMinutes(minutes)).toBe(text)
})

test('a share and a time are told in words', () => {
  expect(formatPercent(0.126)).toBe('13 %')
  expect(formatWhen(null, NOW)).toBe('never')
  expect(formatWhen(isoOf(NOW + 40_000), NOW)).toBe('in 40 s')
  expect(formatWhen(isoOf(NOW), NOW)).toBe('in 0 s')
  expect(formatWhen(isoOf(NOW + 60_000), NOW)).toBe('in 1 min')
  expect(formatWhen(isoOf(NOW - 180_000), NOW)).toBe('3 min ago')
})

describe('a sandbox', () => {
  test.each([
    [{}, 0, 'none'],
    [{ findings: [finding('warning')] }, 1, 'warning'],
    [{ findings: [finding('critical'), finding('warning')] }, 2, 'critical'],
    [{ owed: OWED }, 2, 'critical'],
    [{ owed: OWED, findings: [finding('warning')] }, 2, 'critical'],
  ])('with %j has the severity %s', (fields, severity, name) => {
    const one = sandbox(fields)
    expect([severityOf(one), severityName(one)]).toEqual([severity, name])
  })

  test('says all that is the matter, what is owed first', () => {
    const texts = mattersOf(sandbox({ owed: OWED, findings: [finding('warning')] }))
    expect(mattersOf(sandbox())).toEqual([])
    expect(texts).toEqual(['Destroy not confirmed after 2 attempts.', 'It is stuck. End it.'])
  })

  test('has an owner, as far as it is known', () => {
    const labels = { agent_type: 'coder', session_id: 's', task_id: 'k' }
    expect(ownerOf(sandbox(labels))).toBe('coder · s · k')
    expect(ownerOf(sandbox({ session_id: 's' }))).toBe('s')
    expect(ownerOf(sandbox())).toBe('none')
  })

  test.each([
    [null, null, 'not known'],
    [12.5, null, '13 %, ? MB'],
    [null, 100.4, '? %, 100 MB'],
    [0, 0, '0 %, 0 MB'],
  ])('uses %s of the processor and %s of memory: %s', (cpu_percent, memory_mb, text) => {
    expect(resourcesOf(sandbox({ cpu_percent, memory_mb }))).toBe(text)
  })

  test('is active until it is gone', () => {
    expect(isActive(sandbox({ status: 'terminating' }))).toBe(true)
    expect(isActive(sandbox({ status: 'terminated' }))).toBe(false)
  })
})

const sortBy = ({ age_minutes }: WireSandbox) => age_minutes

describe('the table', () => {
  const all = { status: 'all', search: '', onlyAttention: false }

  test.each([
    ['all', 'terminated', true],
    ['active', 'terminated', false],
    ['active', 'failed', true],
    ['running', 'running', true],
    ['running', 'failed', false],
  ] as const)('of %s has what is %s: %s', (status, own, isShown) => {
    expect(isSelected(sandbox({ status: own }), { ...all, status })).toBe(isShown)
  })

  test('finds words in the id, the owner and the provider', () => {
    const one = sandbox({ id: 'Box-7', session_id: 'Session', provider: 'Fake' })
    const has = (search: string) => isSelected(one, { ...all, search })
    expect([' box-7 ', 'SESSION', 'fake', ''].map(has)).toEqual([true, true, true, true])
    expect(has('box-8')).toBe(false)
  })

  test('leaves out what needs no attention, when asked to', () => {
    const attention = { ...all, onlyAttention: true }
    expect(isSelected(sandbox(), attention)).toBe(false)
    expect(isSelected(sandbox({ owed: OWED }), attention)).toBe(true)
  })

  const many = [
    sandbox({ id: 'b', age_minutes: 5 }),
    sandbox({ id: 'c', age_minutes: 9 }),
    sandbox({ id: 'a', age_minutes: 5 }),
    sandbox({ id: 'd', age_minutes: 1, owed: OWED }),
  ]
  const order = (sorting?: Parameters<typeof compareSandboxes>[2]) =>
    many.toSorted((a, b) => compareSandboxes(a, b, sorting)).map(({ id }) => id)

  test('has the worst first, and of that the oldest', () => {
    expect(order()).toEqual(['d', 'c', 'b', 'a'])
  })

  test('is sorted to both sides, what is equal by its id', () => {
    expect(order({ sortBy, descending: true })).toEqual(['c', 'a', 'b', 'd'])
    expect(order({ sortBy, descending: false })).toEqual(['d', 'a', 'b', 'c'])
  })
})

describe('the chart of ages', () => {
  test('counts each active one once, at the bound of its bar', () => {
    const ages = [-1, 0, 1, 1.1, 2, 5, 10, 10.1, 30, 120, 121]
    const gone = sandbox({ status: 'terminated', age_minutes: 500 })
    const { bars, caption } = ageBars([
      ...ages.map((age_minutes) => sandbox({ age_minutes })),
      gone,
    ])
    expect(bars).toEqual([
      { label: '≤ 1 min', value: 3, isStuck: false },
      { label: '≤ 2 min', value: 2, isStuck: false },
      { label: '≤ 5 min', value: 1, isStuck: false },
      { label: '≤ 10 min', value: 1, isStuck: false },
      { label: '≤ 30 min', value: 2, isStuck: true },
      { label: '≤ 2 h', value: 1, isStuck: true },
      { label: '> 2 h', value: 1, isStuck: true },
    ])
    expect(caption).toBe('11 active, 4 older than 10 min; the oldest is 2 h old.')
    expect(ageBars([gone]).caption).toBe('None is active.')
    expect([oldest(0.5), oldest(-5)]).toEqual(['the oldest is 30 s old.', 'the oldest is 0 s old.'])
  })
})

describe('the chart of the last hour', () => {
  test('counts what was there in each minute, from its start to its end', () => {
    const { bars, caption } = activityBars(
      [
        sandbox({ created_at: ago(2) }),
        sandbox({ created_at: ago(59), status: 'terminated', status_since: ago(57) }),
        sandbox({ created_at: ago(90), status: 'terminated', status_since: ago(59) }),
      ],
      NOW,
    )
    const values = bars.map(({ value }) => value)
    expect(values).toEqual([1, 1, ...Array(55).fill(0), 1, 1, 1])
    expect(caption).toBe('1 now, 1 at most.')
    const labels = bars.flatMap(({ label }, index) => (label === '' ? [] : [[index, label]]))
    expect(labels).toEqual([
      [0, '−60 min'],
      [15, '−45 min'],
      [30, '−30 min'],
      [45, '−15 min'],
    ])
  })
})

const ITEM = { id: 'a', provider: 'p', action: 'destroy', reason: 'idle' }
const itemWith = (outcome: string) => ({ ...ITEM, outcome })
const NO_PASS = { outcome: 'completed', items: [], spared: {}, rejected: [], error: null }
const passWith = (fields: object): WirePass => ({ ...NO_PASS, ...fields }) as never

describe('what a pass has done', () => {
  test.each([
    ['completed', ''],
    ['more', ' There is more to do than one pass may: run it again.'],
    ['lease-held', ' Another sweeper is at work: try again later.'],
    ['lease-lost', ' Another sweeper took over.'],
    ['store-failed', ' The ledger did not answer.'],
  ])('that ends with %s is said', (outcome, ending) => {
    expect(sentenceOfPass(passWith({ outcome }))).toBe(`Nothing to do.${ending}`)
    const items = ['destroyed', 'owed', 'destroyed'].map(itemWith)
    expect(sentenceOfPass(passWith({ outcome, items }))).toBe(`2 destroyed, 1 owed.${ending}`)
  })

  test('and what it left, and why', () => {
    const rejected = [{ provider: 'p', because: 'partial', detail: 'half of it' }]
    const left = { spared: { leased: 2 }, rejected, error: 'no answer' }
    expect(remarksOf(passWith(left))).toEqual([
      'Nothing was concluded from the partial list of p: half of it',
      '2 left: leased',
      'no answer',
    ])
    expect(remarksOf(passWith({}))).toEqual([])
  })
})

test('what is equal goes by its name, from the top and from the bottom', () => {
  for (const descending of [true, false]) {
    const compare = (a: string, b: string): number =>
      Math.sign(compareSandboxes(sandbox({ id: a }), sandbox({ id: b }), { sortBy, descending }))
    expect([compare('a', 'b'), compare('b', 'a')]).toEqual([-1, 1])
  }
})
