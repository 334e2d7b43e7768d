import { Fleet, MemoryFleetStore } from '@helix-agents/sandbox-fleet'
import { expect, test } from 'vitest'

/** Such as a variable of the process that is not set: no fleet owns what everybody has made. */
test.each([undefined, null, '', ' \t', 5])('%j is no label of an environment', (environment) => {
  const options = { environment, store: new MemoryFleetStore(), drivers: [] }
  expect(() => new Fleet(options as never)).toThrow(
    expect.objectContaining({
      name: 'FleetError',
      code: 'config-invalid',
      message: expect.stringContaining('label of its environment') as unknown,
    }) as Error,
  )
})
