import { expect, it } from 'vitest'
import { events, failure } from '../support/client.ts'
import { describeServer } from '../support/fixture.ts'

const serve = (port: number) =>
  `exec node -e "require('http').createServer((q, r) => r.end()).listen(${port})"`

describeServer('ports.watchPort', (fixture) => {
  const watch = (request: object) =>
    fixture.client.root.ports.watchPort({ mode: 'http', interval: 20, ...request })

  it.each(['http', 'tcp'])('tells when something answers by %s', async (mode) => {
    const session = await fixture.newSession()
    const port = mode === 'http' ? 18_081 : 18_082
    await fixture.client.root.processes.startProcess(serve(port), session)
    const found = await events(await watch({ port, mode }))
    expect(found.at(-1)).toMatchObject({ type: 'ready', port })
  })

  it('tells when the process it waits for is gone', async () => {
    const session = await fixture.newSession()
    const { processId } = await fixture.client.root.processes.startProcess('false', session)
    const found = await events(await watch({ port: 18_083, processId }))
    expect(found.at(-1)).toMatchObject({ type: 'process_exited', exitCode: 1 })
  })

  it('refuses a number that is no port', async () => {
    expect((await failure(watch({ port: 70_000 }))).code).toBe('INVALID_PORT')
  })
})
