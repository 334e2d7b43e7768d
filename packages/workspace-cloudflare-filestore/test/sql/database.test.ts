import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { createProvider, openOptions, session } from '../provider-harness.ts'

test('a class without SQLite storage is a mistake of the operator, not a fault that may pass', async () => {
  const stub = env.WITHOUT_SQL.get(env.WITHOUT_SQL.newUniqueId())
  const error = await runInDurableObject(stub, (_, { storage }) =>
    createProvider(storage)
      .open({ kind: 'cloudflare-filestore' }, session, openOptions())
      .catch((thrown: unknown) => thrown),
  )
  expect(error).toMatchObject({ code: 'config-invalid', transient: false })
  expect((error as Error).message).toContain('new_sqlite_classes')
})
