import { expect, it } from 'vitest'
import { Network } from '../../src/engine/network/network.ts'
import { FaultSet } from '../../src/faults/fault-set.ts'

it('lets messages through when a frozen network has used up its times', async () => {
  const faults = new FaultSet(() => true)
  const network = new Network(faults, 'container')
  const { promise, resolve } = Promise.withResolvers<void>()
  const fault = faults.inject({ kind: 'frozen-network', times: 1 })
  network.deliver('to-container', resolve)
  await promise
  expect(fault.hits).toBe(1)
})
