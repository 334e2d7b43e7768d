import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import type { SessionRequest } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import { begun, NOW, opened } from './script.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const requestFor = (sessionId: string, body: string): SessionRequest => ({
  requestId: `of ${sessionId}`,
  sessionId,
  askingSessionId: sessionId,
  agentPath: ['a'],
  kind: 'approval',
  toolCallId: 'c',
  toolName: 't',
  arguments: '{}',
  preview: { title: 't', body },
  createdAt: NOW,
})

test('a damaged request does not hide those of other sessions', async () => {
  const path = join(temporaryDirectory(), 'sessions.db')
  const { stateStore } = await opened(path)
  for (const sessionId of ['a', 'b', 'c', 'd']) {
    const write = await begun(stateStore, sessionId)
    const body = sessionId === 'c' ? 'x'.repeat(400_000) : ''
    await stateStore.addRequests({ ...write, requests: [requestFor(sessionId, body)] })
  }
  const database = new DatabaseSync(path)
  database.exec("UPDATE helix_requests SET request = '{' WHERE request_id = 'of b'")
  database.exec('DELETE FROM helix_texts WHERE position = 1')
  database.close()
  const query = { now: NOW, state: 'open', limit: 3 } as const
  const page = await stateStore.listRequests(query)
  expect(page).toMatchObject({ items: [{ requestId: 'of a' }], unreadable: ['of b', 'of c'] })
  const rest = await stateStore.listRequests({ ...query, cursor: page.nextCursor ?? '' })
  expect(rest.items.map(({ requestId }) => requestId)).toEqual(['of d'])
  expect(rest).not.toHaveProperty('unreadable')
  for (const id of ['b', 'c']) {
    const answer = { decision: 'deny', at: NOW } as const
    const corrupt = { code: 'corrupt', sessionId: id }
    await expect(stateStore.getRequest(id, `of ${id}`)).rejects.toMatchObject(corrupt)
    await expect(stateStore.resolveRequest(id, `of ${id}`, answer)).rejects.toMatchObject(corrupt)
    await stateStore.deleteSession(id)
  }
  expect((await stateStore.listRequests({ now: NOW })).items).toHaveLength(2)
})
