import type { SqlDatabase } from '@helix-agents/store-sql'
import { expect, test } from 'vitest'
import { StreamSignals } from '../src/stream/stream-signals.ts'

type Listener = Parameters<SqlDatabase['onForeignWrite']>[0]

/** A database that is only listened to. */
function open() {
  const listeners = new Set<Listener>()
  const database: SqlDatabase = {
    read: async () => Promise.reject(new Error('not read')),
    write: async () => Promise.reject(new Error('not written')),
    onForeignWrite: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const woken: string[] = []
  const reader = (name: string) => ({ wake: () => void woken.push(name) })
  const foreign: Listener = (...change) => listeners.forEach((listener) => listener(...change))
  return { signals: StreamSignals.of(database), database, listeners, woken, reader, foreign }
}

test('a database has one, which listens while somebody waits', () => {
  const { signals, database, listeners, reader } = open()
  expect(StreamSignals.of(database)).toBe(signals)
  expect(StreamSignals.of(open().database)).not.toBe(signals)
  const [a, b] = [reader('a'), reader('b')]
  signals.wait(1, a)
  signals.wait(1, b)
  signals.wait(2, a)
  expect(listeners.size).toBe(1)
  signals.forget(1, a)
  signals.forget(1, b)
  signals.forget(3, b)
  expect(listeners.size).toBe(1)
  signals.forget(2, a)
  expect(listeners.size).toBe(0)
  signals.wait(1, a)
  expect(listeners.size).toBe(1)
  signals.changed([1])
  expect(listeners.size).toBe(0)
})

test('readers are woken once, by a change of their stream', () => {
  const { signals, woken, reader } = open()
  signals.wait(1, reader('a'))
  signals.wait(1, reader('b'))
  signals.wait(2, reader('c'))
  signals.changed([1, 3])
  signals.changed([1])
  expect(woken).toEqual(['a', 'b'])
  signals.changed([2])
  expect(woken).toEqual(['a', 'b', 'c'])
})

test('a change of another process is one of the named streams, or of any', () => {
  const { signals, woken, reader, foreign } = open()
  for (const stream of [1, 2, 3]) signals.wait(stream, reader(`${stream}`))
  foreign([2], [])
  expect([woken, signals.replacements]).toEqual([['2'], 0])
  foreign([1], [1])
  expect([woken, signals.replacements]).toEqual([['2', '1'], 1])
  signals.wait(1, reader('again'))
  foreign([1])
  expect([woken.at(-1), signals.replacements]).toEqual(['again', 2])
  signals.wait(1, reader('1'))
  foreign()
  expect([woken.slice(3).toSorted(), signals.replacements]).toEqual([['1', '3'], 3])
  signals.replaced()
  expect(signals.replacements).toBe(4)
})
