import { expect, test } from 'vitest'
import { pageOf } from './cluster-page.ts'

test('the page shows which machine has which session, and markup of strangers as text', async () => {
  const worker = {
    workerId: 'w',
    pid: 1,
    state: 'running',
    concurrency: 4,
    takeovers: 2,
    lostAfterMs: 9,
  } as const
  const page = await pageOf({
    workers: [{ ...worker, machine: 'm1', sessions: ['<b>s</b>'], silentMs: 400 }],
    queue: { ready: 3, delayed: 2, active: 1, oldestReadyMs: 10 },
    attempts: 0,
    files: 0,
    restored: 0,
    sessions: [
      {
        sessionId: '<b>s</b>',
        status: 'running',
        machine: 'm1',
        staysWith: 'm1',
        steps: { m1: 2, m2: 1 },
      },
    ],
  })
  const text = page.toString().replaceAll(/>\s+</g, '><')
  expect(text).toContain('3 turns ready, 2 delayed, 1 active')
  expect(text).toContain(
    '<td>&lt;b&gt;s&lt;/b&gt;</td><td>running</td><td>m1</td><td>m1</td><td>m1 2, m2 1</td>',
  )
  expect(text).not.toContain('<b>')
})
