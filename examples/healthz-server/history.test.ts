import { unpackTar } from 'modern-tar'
import { expect, test } from 'vitest'
import { createHarness, type Harness, json, say, use } from './harness.ts'

/** A session that wrote a text, then another in its place. */
async function createBroken(): Promise<Harness & { readonly points: readonly string[] }> {
  const harness = createHarness({
    history: 'step',
    brain: ({ length }) => {
      if (length > 3) return say('done')
      const content = length === 1 ? 'a - b\n' : 'broken\n'
      return use('workspace__box__write_file', { path: '/add.js', content }, `call-${length}`)
    },
  })
  await harness.post('/sessions', { message: 'Break it.', sessionId: 's' })
  expect(await harness.ended('s')).toBe('completed')
  const { body } = await json<{ items: { id: string }[] }>(harness.get('/sessions/s/checkpoints'))
  return { ...harness, points: body.items.map(({ id }) => id).toReversed() }
}

async function filesOf({ get }: Harness, query: string): Promise<unknown> {
  const response = await get(`/sessions/s/files?${query}`)
  expect(response.headers.get('content-type')).toBe('application/x-tar')
  const entries = await unpackTar(await response.arrayBuffer(), { strict: true })
  const files = entries.filter(({ header }) => header.type === 'file')
  return files.map(({ header, data }) => [header.name, new TextDecoder().decode(data)])
}

test('what changed is shown and downloaded; a branch and the session go back with files', async () => {
  const harness = await createBroken()
  const { get, post, points } = harness
  const [first = '', second = ''] = points
  const { body } = await json(get(`/sessions/s/diff?from=${first}`))
  expect(body).toMatchObject({
    workspaces: [{ changes: [{ path: '/add.js', change: 'changed' }] }],
  })
  expect(JSON.stringify(body)).toContain(String.raw`-a - b\n+broken`)
  expect(await filesOf(harness, `checkpointId=${first}`)).toEqual([['add.js', 'a - b\n']])
  expect(await filesOf(harness, `checkpointId=${second}&workspace=box`)).toEqual([
    ['add.js', 'broken\n'],
  ])

  const from = { checkpointId: first, sessionId: 'copy', files: 'checkpoint' }
  expect(await json(post('/sessions/s/branch', from))).toMatchObject({
    status: 201,
    body: { sessionId: 'copy' },
  })
  expect((await post('/sessions/s/branch', from)).status).toBe(409)
  expect((await post('/sessions/s/restore', { checkpointId: first, files: true })).status).toBe(202)
  expect((await json(get(`/sessions/s/diff?from=${first}`))).body).toEqual({
    workspaces: [{ workspace: 'box', changes: [], total: 0 }],
  })
})

test('what does not fit is rejected', async () => {
  const { get, post, points } = await createBroken()
  const statuses = await Promise.all(
    [
      '/diff',
      '/diff?from=x',
      '/diff?from=now&workspace=other',
      '/files',
      '/files?checkpointId=now',
      '/checkpoints?limit=0',
    ].map(async (path) => [path, (await get(`/sessions/s${path}`)).status]),
  )
  expect(statuses).toEqual([
    ['/diff', 400],
    ['/diff?from=x', 404],
    ['/diff?from=now&workspace=other', 409],
    ['/files', 400],
    ['/files?checkpointId=now', 404],
    ['/checkpoints?limit=0', 400],
  ])
  const [checkpointId] = points
  expect((await post('/sessions/s/restore', { checkpointId: 'x' })).status).toBe(404)
  expect((await post('/sessions/s/restore', { checkpointId, files: ['other'] })).status).toBe(409)
  expect((await post('/sessions/s/branch', { files: true })).status).toBe(400)
  expect((await post('/sessions/unknown/restore', { checkpointId })).status).toBe(404)
})
