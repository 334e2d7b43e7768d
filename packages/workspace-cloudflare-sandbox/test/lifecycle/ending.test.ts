// What the end of a workspace asks of the driver and of the directory, in which order.
import { logMessages } from '@helix-agents/core/provider'
import { RecordingLogger } from '@helix-agents/core/testing'
import { DriverError } from '@helix-agents/workspace-cloudflare-sandbox'
import { expect, test } from 'vitest'
import { hashParts } from '../../src/sandbox-id.ts'
import { failing, Heard } from '../double/heard.ts'
import { Bench, codeOf, session } from '../double/open-on-double.ts'

const sandboxId = `hx-${await hashParts('sandbox', session.sessionId, 'box')}`
const record = { sandboxId, session, workspace: 'box', isShared: false }
const unconfirmed = new DriverError('destroy-unconfirmed', 'x', { admitted: 'yes' })
const notConfirmed = {
  code: 'provider-failed',
  message: 'the platform did not confirm the end of the sandbox',
  transient: true,
  cause: unconfirmed,
}

/** Opened, and heard from now on. */
async function opened(...given: ConstructorParameters<typeof Heard>) {
  const heard = new Heard(...given)
  const { ref, ws } = await heard.bench.open()
  heard.names()
  return { heard, ref, ws, world: heard.bench.world }
}

const ended = { destroyOnClose: true }

test('a workspace tells what it is', async () => {
  const { ws } = await opened()
  expect(ws).toMatchObject({ id: sandboxId, isolation: 'container', shellRoot: '/workspace' })
  expect(ws.snapshot).toBeUndefined()
  const { ws: other } = await opened({ backupR2Binding: 'BACKUP_BUCKET' })
  expect(other.snapshot).toBeDefined()
})

test('a close that leaves the container waits until all that was started has ended', async () => {
  const { heard, ws } = await opened()
  await ws.shell!.start!('sleep 9')
  await ws.code!.createContext!('python')
  heard.names()
  await Promise.all([ws.close(), ws.close()])
  await ws.close()
  expect(heard.names()).toEqual(['processes.kill', 'meanwhile code.remove', 'disconnect'])
})

test('a close after a detach leaves what was started', async () => {
  const { heard, ws } = await opened()
  await ws.code!.createContext!('python')
  heard.names()
  await Promise.all([ws.detach!(), ws.detach!()])
  expect(heard.names()).toEqual(['disconnect'])
  expect(await codeOf(ws.fs!.ls('/'))).toBe('closed')
  await ws.detach!()
  await ws.close()
  expect(heard.names()).toEqual([])
})

test('an end is recorded once it is certain, and nothing runs meanwhile', async () => {
  const { heard, ws, world } = await opened(ended)
  const meanwhile: unknown[] = []
  world.onCall = async ({ name }) => {
    if (name === 'destroy') meanwhile.push(await codeOf(ws.shell!.run('ls')))
  }
  await ws.close()
  expect(meanwhile).toEqual(['closed'])
  expect(heard.calls).toEqual([['destroy'], ['recordDestroyed', record], ['disconnect']])
})

test('an end that is not confirmed is owed, with why, and is asked for again', async () => {
  const { heard, ref, ws, world } = await opened(ended)
  world.onCall = failing({ destroy: unconfirmed })
  await expect(ws.close()).rejects.toMatchObject(notConfirmed)
  expect(heard.calls).toEqual([['destroy'], ['recordDestroyFailed', record, unconfirmed]])
  expect(await codeOf(ws.shell!.run('ls'))).toBe('closed')
  world.onCall = () => {}
  expect((await heard.bench.resolve(ref)).receipt.outcome).toBe('reattached')
  heard.names()
  await ws.close()
  expect(heard.names()).toEqual(['destroy', 'recordDestroyed', 'disconnect'])
})

test('an end that cannot be recorded is an error, and is asked for again', async () => {
  const { heard, ws, world } = await opened(ended)
  world.onCall = failing({ recordDestroyed: new Error('the ledger is away') })
  await expect(ws.close()).rejects.toThrow('the ledger is away')
  world.onCall = () => {}
  heard.names()
  await ws.close()
  expect(heard.names()).toEqual(['destroy', 'recordDestroyed', 'disconnect'])
})

test.each([
  [new DriverError('failed', 'x', { admitted: 'no' }), undefined],
  [
    Object.assign(new Error('x'), { brand: 'helix-agents/error', code: 'unavailable' }),
    'unavailable',
  ],
])('a directory that is away hides no end that is owed (%#)', async (err, code) => {
  const logger = new RecordingLogger()
  const { ws, world } = await opened(ended, { logger })
  world.onCall = failing({ destroy: unconfirmed, recordDestroyFailed: err })
  await expect(ws.close()).rejects.toMatchObject(notConfirmed)
  expect(logger.lines).toEqual([
    {
      level: 'error',
      message: logMessages.closeFailed,
      fields: { workspace: 'box', sessionId: session.sessionId, code, err },
    },
  ])
})

test('the logger is that of the provider, or of its caller', async () => {
  const loggers = [new RecordingLogger(), new RecordingLogger()] as const
  const counts = (): number[] => loggers.map(({ lines }) => lines.length)
  const err = new Error('the ledger is away')
  for (const options of [{}, { logger: loggers[1] }]) {
    const heard = new Heard(ended, options)
    const { ws } = await heard.bench.open({ logger: loggers[0] })
    heard.bench.world.onCall = failing({ destroy: unconfirmed, recordDestroyFailed: err })
    expect(await codeOf(ws.close())).toBe('provider-failed')
  }
  expect(counts()).toEqual([1, 1])
})

test('an end needs no directory', async () => {
  const bench = new Bench(ended)
  const { ws } = await bench.open()
  bench.world.onCall = failing({ destroy: unconfirmed })
  await expect(ws.close()).rejects.toMatchObject(notConfirmed)
  bench.world.onCall = () => {}
  await ws.close()
  expect(bench.world.calls).toEqual(['ensure', 'destroy', 'destroy', 'disconnect'])
})
