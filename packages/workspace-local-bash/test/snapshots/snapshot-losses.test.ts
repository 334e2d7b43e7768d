import { describe, expect, it } from 'vitest'
import { SnapshotLosses } from '../../src/snapshots/snapshot-losses.ts'

describe('what a snapshot does not hold', () => {
  it('is nothing', () => {
    expect([new SnapshotLosses().sentence, new SnapshotLosses().list]).toEqual([undefined, []])
  })
  it('is counted, and the first five of a kind are named', () => {
    const losses = new SnapshotLosses()
    for (let n = 1; n <= 5; n += 1) losses.add(`/${n}`, 'link')
    const five = '"/1", "/2", "/3", "/4", "/5"'
    const start = 'The snapshot does not hold as they were: '
    expect(losses.sentence).toBe(`${start}link ${five} (5).`)
    losses.add('/6', 'link')
    losses.add(`/"${'x'.repeat(200)}`, 'path')
    const long = JSON.stringify(`/"${'x'.repeat(98)}`)
    expect(losses.sentence).toBe(`${start}link ${five} and others (6); path ${long} (1).`)
    expect(losses.list).toEqual([
      { kind: 'link', count: 6, paths: ['/1', '/2', '/3', '/4', '/5'] },
      { kind: 'path', count: 1, paths: [`/"${'x'.repeat(200)}`] },
    ])
  })
  it('is said in 1,000 characters at most', () => {
    const losses = new SnapshotLosses()
    for (const kind of ['link', 'path', 'unreadable'] as const) {
      for (let n = 0; n < 6; n += 1) losses.add(`/${'x'.repeat(200)}`, kind)
    }
    expect(losses.sentence).toHaveLength(1000)
  })
})
