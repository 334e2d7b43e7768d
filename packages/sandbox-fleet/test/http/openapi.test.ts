// The document against what the API answers: each status and each body.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type Harness, MINUTE_MS, setup } from './harness.ts'

interface Operation {
  readonly responses: Readonly<
    Record<
      string,
      { readonly content?: { readonly 'application/json': { readonly schema: object } } }
    >
  >
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: object }
}

type Schemas = NonNullable<Exclude<Parameters<typeof z.fromJSONSchema>[0], boolean>['$defs']>
type Prepare = (harness: Harness) => Promise<void> | void

const leaked: Prepare = async ({ addLeaked, clock }) => {
  await addLeaked('box', { critical: false })
  await clock.advance(45 * MINUTE_MS)
}
const owed: Prepare = async (harness) => {
  await leaked(harness)
  harness.driver.destroyFails = true
  await harness.ask('/api/sandbox/box', { method: 'DELETE' })
}
const storeAway: Prepare = ({ store }) => {
  store.counts = () => Promise.reject(new Error('away'))
}

const requests: readonly (readonly [
  route: string,
  method: string,
  path: string,
  status: number,
  prepare: Prepare,
])[] = [
  ['stats', 'GET', 'stats', 200, leaked],
  ['stats', 'GET', 'stats', 500, storeAway],
  ['list', 'GET', 'list', 200, leaked],
  ['list', 'GET', 'list', 200, owed],
  ['list', 'GET', 'list?status=all', 200, owed],
  ['list', 'GET', 'list?limit=x', 400, leaked],
  ['{id}', 'GET', 'box', 200, leaked],
  ['{id}', 'GET', 'box', 200, owed],
  ['{id}', 'GET', 'nobody', 404, leaked],
  ['{id}', 'GET', '-bad', 400, leaked],
  ['{id}/logs', 'GET', 'box/logs', 200, leaked],
  ['{id}/logs', 'GET', 'nobody/logs', 404, leaked],
  [
    '{id}/logs',
    'GET',
    'box/logs',
    501,
    async (harness) => {
      await leaked(harness)
      await harness.store.create({
        ...(await harness.store.get('box'))!,
        id: 'far',
        provider: 'far',
      })
    },
  ],
  ['{id}/resources', 'GET', 'box/resources', 200, leaked],
  [
    '{id}/resources',
    'GET',
    'box/resources',
    502,
    async (harness) => {
      await leaked(harness)
      harness.driver.resources = async () => ({ cpuPercent: Number.NaN, memoryMb: 1 })
    },
  ],
  ['{id}', 'DELETE', 'box', 200, leaked],
  [
    '{id}',
    'DELETE',
    'box',
    202,
    async (harness) => {
      await leaked(harness)
      harness.driver.destroyFails = true
    },
  ],
  ['{id}', 'DELETE', 'nobody', 404, leaked],
  ['{id}', 'DELETE', 'box?reason=', 400, leaked],
  ['cleanup', 'POST', 'cleanup', 200, leaked],
  ['cleanup', 'POST', 'cleanup?dry_run=true', 200, leaked],
  ['cleanup', 'POST', 'cleanup?dry_run=maybe', 400, leaked],
  ['cleanup/emergency', 'POST', 'cleanup/emergency', 200, leaked],
  ['reconcile', 'POST', 'reconcile', 200, leaked],
  ['reconcile', 'POST', 'reconcile?dry_run=true', 200, leaked],
]

async function documentOf({ ask }: Harness): Promise<Document> {
  return (await (await ask('/openapi.json')).json()) as Document
}

/** The schema of the document for an answer, as something that checks. */
function schemaOf(document: Document, route: string, method: string, status: number): z.ZodType {
  const operation = document.paths[`/api/sandbox/${route}`]?.[method.toLowerCase()]
  const schema = operation?.responses[status]?.content?.['application/json'].schema
  expect(schema, `${method} ${route} says nothing of ${status}`).toBeDefined()
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/')
  const defs = JSON.stringify(document.components.schemas)
  const $defs = JSON.parse(defs.replaceAll('#/components/schemas/', '#/$defs/')) as Schemas
  return z.fromJSONSchema({ ...(JSON.parse(text) as object), $defs })
}

describe('the document is true for', () => {
  test.each(requests)('%s: %s %s, %i', async (...request) => {
    const [route, method, path, status, prepare] = request
    const harness = setup()
    await prepare(harness)
    const real = path === 'box/logs' && status === 501 ? 'far/logs' : path
    const response = await harness.ask(`/api/sandbox/${real}`, { method })
    expect(response.status).toBe(status)
    const body: unknown = await response.json()
    const schema = schemaOf(await documentOf(harness), route, method, status)
    expect(schema.safeParse(body).error?.issues).toBeUndefined()
    if (status >= 400) return
    expect(schema.safeParse({ unheard: 'of' }).success).toBe(false)
  })

  test('every answer without a token', async () => {
    const harness = setup()
    const document = await documentOf(harness)
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const method of Object.keys(operations)) {
        const address = path.replace('{id}', 'box')
        const response = await harness.ask(address, { method: method.toUpperCase(), token: null })
        expect([path, response.status]).toEqual([path, 401])
        const schema = schemaOf(document, path.slice('/api/sandbox/'.length), method, 401)
        expect(schema.safeParse(await response.json()).success).toBe(true)
      }
    }
  })
})
