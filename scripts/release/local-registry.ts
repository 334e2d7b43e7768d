// A registry on this machine: ours are published to it, all others come through it from npm.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { runServer } from 'verdaccio'
import { root } from '../repository.ts'

export interface LocalRegistry {
  readonly url: string
  close(): void
}

/** Tarballs of others are kept from run to run; ours never are. */
const cache = join(root, 'node_modules/.cache/rehearsal/registry')
const ours = ['@helix-agents', 'create-helix-agents']

const configuration = (upstream: string): string => `
storage: ${cache}
auth: { htpasswd: { file: ${join(cache, 'htpasswd')}, max_users: -1 } }
uplinks: { npm: { url: ${upstream}, maxage: 1d, timeout: 60s, max_fails: 100 } }
packages:
  '@helix-agents/*': { access: $all, publish: $all }
  'create-helix-agents': { access: $all, publish: $all }
  '**': { access: $all, proxy: npm }
max_body_size: 100mb
log: { type: file, path: ${join(cache, 'registry.log')}, level: warn }
web: { enable: false }
`

/** @param upstream Where the packages of others come from. */
export async function startLocalRegistry(upstream: string): Promise<LocalRegistry> {
  for (const name of ours) rmSync(join(cache, name), { recursive: true, force: true })
  rmSync(join(cache, '.verdaccio-db.json'), { force: true })
  mkdirSync(cache, { recursive: true })
  const file = join(cache, 'config.yaml')
  writeFileSync(file, configuration(upstream))
  const server = (await runServer(file)) as Server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the registry has no port')
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${address.port}/`, close }
}
