import { expect, test } from 'vitest'
import { emptyPlace, opened, query } from './opened.ts'

test('a page is read as a whole: fields, and what is damaged of one session', async () => {
  const url = await emptyPlace()
  const { stateStore } = await opened(url)
  for (const sessionId of ['first', 'bad', '\ud800 last']) {
    const customState = { id: sessionId }
    await stateStore.createSession({ sessionId, agentType: 'a', customState, tags: ['t'], now: 1 })
    const run = { sessionId, runId: 'r', now: 2 }
    await stateStore.beginRun({ ...run, leaseMs: 3_600_000 })
    const ledger = { known: {}, writers: { '/a': { actor: 'r', version: 'v' } } }
    const fileLedgers = { box: ledger, other: { ...ledger, writers: {} } }
    await stateStore.commitStep({ ...run, messages: [], checkpointId: 'c', fileLedgers })
  }
  const heads = await Promise.all(['\ud800 last', 'first'].map((id) => stateStore.loadSession(id)))
  await query(url, "UPDATE helix_labels SET labels = '{}x' WHERE session = 2")
  const page = await stateStore.listSessions()
  expect(page.items).toEqual(heads)
  expect(page.unreadable).toEqual([{ sessionId: 'bad', code: 'corrupt' }])
})
