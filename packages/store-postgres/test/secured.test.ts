// A server as operators run it: TCP, TLS, passwords. What it rejects is a clear error without secrets.
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { startTestPostgres, type TestPostgres } from '@helix-agents/postgres-testbed'
import { openPostgresStores } from '@helix-agents/store-postgres'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { opened, query } from './opened.ts'
import { begun, step, textsOf } from './script.ts'

const HBA = 'local all all trust\nhostssl all all all scram-sha-256\n'
const PASSWORD = 's3cret/@:%'

let server: TestPostgres
let port = 0
/** Of the server, and one that it does not have. */
let certificates: readonly string[] = []

beforeAll(async () => {
  port = await freePort()
  server = await startTestPostgres({
    settings: { listen_addresses: 'localhost', port: String(port) },
  })
  const { uid, gid } = statSync(server.directory)
  const write = (name: string, text: string): string => {
    const path = join(server.directory, 'data', name)
    writeFileSync(path, text, { mode: 0o600 })
    chownSync(path, uid, gid)
    return path
  }
  const [own, other] = await Promise.all([certificate(), certificate()])
  write('server.key', own.private)
  certificates = [write('server.crt', own.cert), write('other.crt', other.cert)]
  write('pg_hba.conf', HBA)
  const admin = new URL(server.url())
  admin.port = String(port)
  await query(admin.href, `CREATE ROLE app LOGIN PASSWORD '${PASSWORD}'`)
  await query(admin.href, 'CREATE DATABASE app OWNER app')
  await query(admin.href, 'ALTER SYSTEM SET ssl = on')
  await server.restart()
})

afterAll(() => server.remove())

async function certificate() {
  const names = { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] } as const
  return generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    keyType: 'ec',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { ...names, altNames: [...names.altNames] },
    ],
  })
}

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const probe = createServer().listen(0, 'localhost', () => {
    const { port: found } = probe.address() as AddressInfo
    probe.close(() => resolve(found))
  })
  return promise
}

interface Login {
  readonly password?: string
  readonly user?: string
  readonly parameters?: Readonly<Record<string, string>>
}

function urlOf({ password = PASSWORD, user = 'app', parameters = {} }: Login): string {
  const login = `${user}${password === '' ? '' : `:${encodeURIComponent(password)}`}`
  return `postgresql://${login}@localhost:${port}/app?${new URLSearchParams(parameters)}`
}

/** Checks the certificate of the server against one of `certificates`. */
function verified(index: number): Readonly<Record<string, string>> {
  return { sslmode: 'verify-full', sslrootcert: certificates[index] ?? '/missing.crt' }
}

test('TLS with a certificate that is checked, and a password', async () => {
  const url = urlOf({ parameters: verified(0) })
  const { stateStore, database } = await opened(url)
  const write = await begun(stateStore, 's')
  await stateStore.commitStep(step(write, '1'))
  expect(await textsOf(stateStore, 's')).toEqual(['1'])
  const SSL = 'SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
  expect(await database.read((sql) => sql.get(SSL))).toEqual({ ssl: 'true' })
})

test.each<readonly [string, () => Login, string]>([
  [
    'a wrong password',
    () => ({ password: 'wr0ng', parameters: verified(0) }),
    'the user or the password is wrong',
  ],
  [
    'no password',
    () => ({ password: '', parameters: verified(0) }),
    'the user or the password is wrong',
  ],
  [
    'an unknown user',
    () => ({ user: 'stranger', parameters: verified(0) }),
    'the user or the password is wrong',
  ],
  ['no TLS', () => ({}), 'the server does not let this user in'],
  [
    'the certificate of another authority',
    () => ({ parameters: verified(1) }),
    'the certificate of the server is not trusted',
  ],
  [
    'a missing certificate',
    () => ({ parameters: verified(2) }),
    'a file that the URL names cannot be read',
  ],
])('%s is rejected', async (_, login, detail) => {
  const { password = PASSWORD, ...rest } = login()
  const error = await openPostgresStores(urlOf({ password, ...rest })).catch((thrown) => thrown)
  expect(error).toMatchObject({
    name: 'StateStoreError',
    code: 'unavailable',
    message: `localhost:${port}/app: ${detail}`,
  })
  expect(JSON.stringify([error, String(error)])).not.toContain(password || PASSWORD)
})
