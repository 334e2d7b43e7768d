import { type Agent, defineAgent } from '@helix-agents/core'
import { unpackTar } from 'modern-tar'
import { expect, test } from 'vitest'
import { say, use } from '../scripts.ts'
import { createSession, type TestSession } from '../session.ts'

const agents = (): readonly Agent[] => [
  defineAgent({
    name: 'tested',
    llmConfig: { model: 'scripted' },
    workspaces: {
      box: {
        provider: { kind: 'cloudflare-filestore' },
        capabilities: { fs: true, snapshot: true },
        history: 'step',
      },
    },
  }),
]

/** Writes one text, then another in its place. */
async function createBroken(): Promise<TestSession & { readonly points: readonly string[] }> {
  const session = createSession({
    agents,
    brain: ({ length }) => {
      if (length > 3) return say('done')
      const content = length === 1 ? 'a - b\n' : 'broken\n'
      return use('workspace__box__write_file', { path: '/src/add.js', content }, `call-${length}`)
    },
  })
  await session.post('/start', { message: 'Break it.' })
  expect(await session.ended()).toBe('completed')
  const { items } = (await session.get('/checkpoints')).body
  return { ...session, points: items.map(({ id }: { readonly id: string }) => id).toReversed() }
}

async function filesOf(session: TestSession, checkpointId: string): Promise<unknown> {
  const response = await session.fetch(`/files?checkpointId=${checkpointId}`)
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/x-tar',
  ])
  const entries = await unpackTar(await response.arrayBuffer(), { strict: true })
  return entries
    .filter(({ header }) => header.type !== 'pax-global-header')
    .map(({ header, data }) => [header.name, data && new TextDecoder().decode(data)])
}

test('what changed is shown, the files go back, and each checkpoint can be downloaded', async () => {
  const session = await createBroken()
  const [first = '', second = ''] = session.points
  const { status, body } = await session.get(`/diff?from=${first}`)
  expect([status, body]).toMatchObject([
    200,
    { workspaces: [{ workspace: 'box', total: 1, changes: [{ path: '/src/add.js' }] }] },
  ])
  expect(body.workspaces[0].changes[0].diff).toContain('-a - b\n+broken')
  const old = [
    ['src/', undefined],
    ['src/add.js', 'a - b\n'],
  ]
  expect(await filesOf(session, first)).toEqual(old)
  expect(await filesOf(session, second)).toEqual([old[0], ['src/add.js', 'broken\n']])

  expect((await session.post('/restore', { checkpointId: first, files: true })).status).toBe(202)
  const same = (await session.get(`/diff?from=${first}&workspace=box`)).body
  expect(same.workspaces).toEqual([{ workspace: 'box', changes: [], total: 0 }])
  expect((await session.get('/state')).body).toMatchObject({ status: 'interrupted' })
})

test.each([
  ['/diff', 400],
  ['/diff?from=', 400],
  ['/diff?from=now&limit=1', 400],
  ['/diff?from=cpv1-other-s1-t1-ffffff', 404],
  ['/diff?from=now&to=../x', 404],
  ['/diff?from=now&workspace=other', 409],
  ['/files', 400],
  ['/files?checkpointId=now', 404],
  ['/files?checkpointId=cpv1-other-s1-t1-ffffff', 404],
])('%s is %i', async (path, status) => {
  const session = await createBroken()
  expect((await session.get(path)).status).toBe(status)
})

test.each([
  [{ files: 'box' }, 400],
  [{ files: [''] }, 400],
  [{ files: ['other'] }, 409],
  [{ files: [] }, 202],
])('a restore with %j is %i', async (options, status) => {
  const session = await createBroken()
  const [checkpointId] = session.points
  expect((await session.post('/restore', { checkpointId, ...options })).status).toBe(status)
})
