import type { JsonValue } from '@helix-agents/core'
import { ContentMeter, type StatePatch } from '@helix-agents/core/runtime'
import { describe, expect, test, vi } from 'vitest'
import { StateTracker } from '../../src/run/state-tracker.ts'

interface Basket {
  items?: string[]
  owner?: { name?: string }
  count?: number
}

const [first, second, third] = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]

function tracker(initial: JsonValue | undefined = { items: ['x'] }, isChanged = false) {
  const patches: StatePatch[] = []
  const state = new StateTracker(initial, (more) => void patches.push(...more), isChanged)
  const push = (call: object, item: string): void =>
    state.update<Basket>(call, (draft) => void (draft.items ??= []).push(item))
  return { state, patches, push }
}

describe('what is stored with the result of a call', () => {
  test('holds its own updates and none of the calls under way', () => {
    const { state, push } = tracker()
    push(first, '1')
    push(second, '2')
    push(first, '3')
    expect(state.settle(second)).toEqual({ value: { items: ['x', '2'] } })
    push(third, '4')
    expect(state.settle(first)).toEqual({ value: { items: ['x', '1', '2', '3'] } })
    expect(state.current).toEqual({ items: ['x', '1', '2', '3', '4'] })
    expect(state.settle(third)).toEqual({ value: state.current })
    expect(state.consumeChange()).toBeUndefined()
  })

  test('is nothing when the call has changed nothing', () => {
    const { state, push } = tracker()
    push(first, '1')
    expect(state.settle(second)).toBeUndefined()
    expect(state.settle(first)).toEqual({ value: { items: ['x', '1'] } })
    expect(state.settle(first)).toBeUndefined()
  })

  test('is the whole state when the call has built on one under way', () => {
    const { state } = tracker()
    state.update<Basket>(first, (draft) => void (draft.owner = {}))
    state.update<Basket>(second, (draft) => void (draft.owner!.name = 'B'))
    expect(state.settle(second)).toEqual({ value: { items: ['x'], owner: { name: 'B' } } })
    expect(state.settle(first)).toBeUndefined()
  })

  test('is the whole state with the end of the step', () => {
    const { state, push } = tracker()
    push(first, '1')
    push(second, '2')
    state.settle(second)
    expect(state.consumeChange()).toEqual({ value: { items: ['x', '1', '2'] } })
    push(first, '3')
    expect(state.settle(first)).toEqual({ value: { items: ['x', '1', '2', '3'] } })
  })

  test('starts with what the caller has replaced', () => {
    const { state } = tracker({ items: [] }, true)
    expect(state.settle(first)).toEqual({ value: { items: [] } })
    expect(state.consumeChange()).toBeUndefined()
  })

  test('starts from nothing', () => {
    const { state, push } = tracker(undefined)
    // A default would stand in for what is not given.
    const none = new StateTracker(undefined, () => {}, false)
    none.update<Basket>(first, (draft) => void (draft.count = 1))
    none.update<Basket>(second, (draft) => void (draft.items = ['y']))
    expect(none.settle(second)).toEqual({ value: { items: ['y'] } })
    expect(none.settle(first)).toEqual({ value: { count: 1, items: ['y'] } })
    push(first, '1')
    expect(state.consumeChange()).toEqual({ value: { items: ['x', '1'] } })
  })
})

describe('what readers hear of an update', () => {
  test('is where it has happened: names are escaped, and an append names the end of its list', () => {
    const { state, patches } = tracker({ 'a/b': { '~c': ['x', 'y'] } })
    state.update<{ 'a/b': { '~c': string[] } }>(first, (draft) => {
      draft['a/b']['~c'].push('z')
      draft['a/b']['~c'][0] = 'w'
    })
    expect(patches).toEqual([
      { op: 'replace', path: '/a~1b/~0c/0', value: 'w' },
      { op: 'add', path: '/a~1b/~0c/-', value: 'z' },
    ])
  })

  test('is nothing when nothing has changed, and then nothing is stored', () => {
    const { state, patches } = tracker()
    state.update<Basket>(first, (draft) => void (draft.items = draft.items ?? []))
    expect(patches).toEqual([])
    expect(state.settle(first)).toBeUndefined()
  })

  test('comes once for each update', () => {
    const { patches, push } = tracker()
    push(first, '1')
    push(second, '2')
    expect(patches).toEqual([
      { op: 'add', path: '/items/-', value: '1' },
      { op: 'add', path: '/items/-', value: '2' },
    ])
  })
})

test('a state is measured as a whole once, and not again for each small change', () => {
  const { state, push } = tracker({ items: Array.from({ length: 1000 }, () => 'x') })
  const measured = vi.spyOn(ContentMeter.prototype, 'value')
  push(first, 'y')
  expect(measured.mock.calls.length).toBeGreaterThan(1000)
  measured.mockClear()
  push(first, 'y')
  push(second, 'y')
  expect(measured.mock.calls.length).toBeLessThan(10)
  measured.mockRestore()
  expect(state.read<Basket>().items).toHaveLength(1003)
})
