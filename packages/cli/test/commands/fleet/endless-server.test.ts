import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { TestHost } from '../../test-host.ts'

describe('a server that does not come to an end', { timeout: 120_000 }, () => {
  it.each(['bytes', 'pages'])('in %s: the command ends in time', async (kind) => {
    const server = createServer((_, response) => {
      const link = '</api/sandbox/list?cursor=a>; rel="next"'
      response.writeHead(200, { 'content-type': 'application/json', link })
      if (kind === 'pages') response.end('[]')
      else response.write('[')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const host = new TestHost()
    host.fetch = globalThis.fetch
    const url = ['--url', `http://127.0.0.1:${port}`, '--timeout', '300ms']
    const { code, err } = await host.run(['fleet', 'list', '--limit', '100000', ...url])
    expect([code, err]).toEqual([3, expect.stringContaining('no answer in time (--timeout)')])
    server.closeAllConnections()
    server.close()
  })
})
