import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { childrenWith, type EngineFixture, startShellEngine } from './support.ts'

const NAME = `workerd-testbed-Sandbox-${'c'.repeat(64)}`

describe('the engine, when calls and ends meet', () => {
  let fixture: EngineFixture
  beforeEach(async () => {
    fixture = await startShellEngine()
  })
  afterEach(() => fixture.stop())

  const call = (method: string, path: string) =>
    fixture.call(method, `/containers/${path}`, method === 'POST' ? {} : undefined)
  const begin = async () => {
    expect((await call('POST', `create?name=${NAME}`)).status).toBe(201)
    expect((await call('POST', `${NAME}/start`)).status).toBe(204)
  }
  const exitCode = async () => (await call('POST', `${NAME}/wait`)).body.StatusCode

  it('ends a container that has not begun to boot', async () => {
    fixture.faults.inject({ kind: 'slow-start', delayMs: 1_000_000 })
    await begin()
    expect((await call('POST', `${NAME}/kill?signal=SIGTERM`)).status).toBe(204)
    expect(await exitCode()).toBe(143)
    expect(childrenWith(fixture.disks)).toEqual([])
  })

  it('reports the exit code of a container that ends by itself, 0 too', async () => {
    fixture.faults.inject({ kind: 'exits', afterMs: 1, exitCode: 0 })
    await begin()
    expect(await exitCode()).toBe(0)
  })

  it('counts an exit when it happens: one that ended before by another hand is none', async () => {
    const fault = fixture.faults.inject({ kind: 'exits', afterMs: 100_000, exitCode: 3, times: 1 })
    await begin()
    expect((await call('POST', `${NAME}/kill`)).status).toBe(204)
    expect(await exitCode()).toBe(137)
    expect(fault.hits).toBe(0)
    fault.remove()
    const next = fixture.faults.inject({ kind: 'exits', afterMs: 1, exitCode: 4, times: 1 })
    expect((await call('POST', `${NAME}/start`)).status).toBe(204)
    expect(await exitCode()).toBe(4)
    expect(next.hits).toBe(1)
  })

  it('reports the first of two ends', async () => {
    await begin()
    const container = fixture.engine.store.containers.get(NAME)
    container?.end(3)
    container?.end(4)
    expect(await exitCode()).toBe(3)
  })

  it.each(['at once', 'later'])('reports a program that cannot be started %s', async (when) => {
    const missing = { kind: 'unshare', command: () => ({ file: '/missing', args: [] }) } as const
    await fixture.stop()
    fixture = await startShellEngine(missing)
    if (when === 'later') fixture.faults.inject({ kind: 'slow-start', delayMs: 1 })
    await begin()
    expect(await exitCode()).toBe(127)
    const { body } = await call('GET', `${NAME}/json`)
    expect(body.State).toMatchObject({ Status: 'exited', ExitCode: 127, Pid: 0 })
  })

  it('keeps the name of a container until its processes are gone', async () => {
    await begin()
    const removal = call('DELETE', `${NAME}?force=true`)
    const container = fixture.engine.store.containers.get(NAME)
    await container?.exited
    await removal
    expect((await call('POST', `create?name=${NAME}`)).status).toBe(201)
  })

  it('starts a sidecar once for two calls, and stops it with a client that stays', async () => {
    expect((await call('POST', `create?name=${NAME}-proxy`)).status).toBe(201)
    const starts = [1, 2].map(() => call('POST', `${NAME}-proxy/start`))
    expect((await Promise.all(starts)).map(({ status }) => status)).toEqual([204, 204])
    const { body } = await call('GET', `${NAME}-proxy/json`)
    const port = Number(body.NetworkSettings.Ports['39001/tcp'][0].HostPort)
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    client.on('error', () => undefined)
    client.write('CONNECT x:3000 HTTP/1.1\r\nHost: x\r\n\r\n')
    const [refusal] = await once(client, 'data')
    expect(String(refusal)).toMatch(/^HTTP\/1\.1 400 /)
    expect((await call('DELETE', `${NAME}-proxy?force=true`)).status).toBe(204)
    client.destroy()
  })

  it('leaves nothing when it stops in the middle of calls', async () => {
    await begin()
    const others = ['d', 'e', 'f'].map((letter) => `workerd-testbed-Sandbox-${letter.repeat(64)}`)
    const calls = others.map(async (name) => {
      await call('POST', `create?name=${name}`)
      await call('POST', `${name}-proxy/start`)
      return call('POST', `${name}/start`)
    })
    calls.push(call('DELETE', `${NAME}?force=true`), call('POST', `create?name=${NAME}-proxy`))
    const settled = Promise.allSettled(calls)
    await fixture.engine.stop()
    await settled
    expect(childrenWith(fixture.disks)).toEqual([])
    expect(readdirSync(fixture.disks)).toEqual([])
    expect(existsSync(fixture.engine.socketPath)).toBe(false)
  })
})
