import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { remoteFleetStore } from '@helix-agents/sandbox-fleet/cloudflare'
import { describe, expect, test } from 'vitest'
import { fleetStoreBehaviours } from '../store/fleet-store-behaviours.ts'
import { codeOf, newRecord, started } from '../store/store-samples.ts'

const openStub = () => env.FLEET.getByName(crypto.randomUUID())

describe('FleetDirectory, from a Worker', () => {
  test.each(fleetStoreBehaviours)('$id', async ({ run }) => {
    await expect(run(remoteFleetStore(openStub()))).resolves.toBeUndefined()
  })

  test('keeps the ledger when its object is evicted', async () => {
    const stub = openStub()
    const store = remoteFleetStore(stub)
    await store.create(newRecord('a'))
    await evictDurableObject(stub)
    await store.update(started(newRecord('a')))
    expect(await store.get('a')).toMatchObject({ status: 'running', version: 2 })
    expect(await codeOf(store.update(started(newRecord('a'))))).toBe('conflict')
  })

  test('tells its time, where that is wanted', async () => {
    const stub = openStub()
    const before = Date.now()
    const time = (await remoteFleetStore(stub, { useLedgerTime: true }).now?.()) ?? 0
    expect(Math.abs(time - before)).toBeLessThan(60_000)
    expect(Object.keys(remoteFleetStore(stub))).not.toContain('now')
  })

  test('an error of the ledger arrives with its sandbox', async () => {
    const store = remoteFleetStore(openStub())
    const error = await store.update(started(newRecord('a'))).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'unknown-sandbox', sandboxId: 'a', transient: false })
  })
})
