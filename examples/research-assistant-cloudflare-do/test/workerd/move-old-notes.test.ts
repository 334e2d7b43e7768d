import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { expect, test } from 'vitest'

declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: typeof import('../../src/worker.ts')
    }
  }
}

const notes = { 'note:loss': 'Row C lost 15 %.', 'note:../what next': 'Ask the harbour.' }

const send = (id: string, path: string, init: RequestInit = {}): Promise<Response> =>
  exports.default.fetch(`https://example.com/agents/research-assistant/${id}${path}`, {
    ...init,
    headers: { authorization: 'Bearer test-token', 'content-type': 'application/json' },
  })

const stubOf = (id: string) => env.RESEARCH.getByName(id)

/** An object as the release before has left it. */
async function createOld(): Promise<string> {
  const id = crypto.randomUUID()
  await runInDurableObject(stubOf(id), (_, { storage }) => storage.put(notes))
  // The next request meets an instance of this release.
  await abortAllDurableObjects()
  return id
}

const keysOf = (id: string) =>
  runInDurableObject(stubOf(id), async (_, { storage }) => [
    ...(await storage.list({ prefix: 'note:' })).keys(),
  ])

/** The texts of the files that the notes should be. */
async function textsOf(id: string): Promise<string[]> {
  const texts: string[] = []
  for (const key of Object.keys(notes)) {
    const name = encodeURIComponent(key.slice('note:'.length))
    const query = new URLSearchParams({ path: `/findings/${name}.md` })
    const response = await send(id, `/notes?${query}`)
    texts.push(await response.text())
  }
  return texts
}

/** Until the agent has opened its notes: from then on the endpoint finds them. */
async function startAndOpen(id: string): Promise<void> {
  const body = JSON.stringify({ message: 'Why does row C yield less?' })
  const { status } = await send(id, '/start', { method: 'POST', body })
  expect(status).toBe(202)
  for (;;) {
    if ((await send(id, '/notes')).status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('the notes of an old object are files for its first session', async () => {
  const id = await createOld()
  expect((await keysOf(id)).length).toBe(2)
  await startAndOpen(id)
  expect([await keysOf(id), await textsOf(id)]).toEqual([[], Object.values(notes)])
})

test('an instance that ends while it moves them loses none', async () => {
  const id = await createOld()
  // As it is left between the write of the first file and the end of its key.
  await startAndOpen(id)
  await runInDurableObject(stubOf(id), (_, { storage }) =>
    storage.put('note:loss', notes['note:loss']),
  )
  await abortAllDurableObjects()
  await send(id, '/state')
  expect([await keysOf(id), await textsOf(id)]).toEqual([[], Object.values(notes)])
})

test('a new object has nothing to move', async () => {
  const id = crypto.randomUUID()
  await startAndOpen(id)
  const response = await send(id, '/notes')
  const { notes: paths } = await response.json<{ notes: string[] }>()
  expect(paths.every((path) => !path.includes('what'))).toBe(true)
})
