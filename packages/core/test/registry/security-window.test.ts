import { expect, test } from 'vitest'
import { setup } from './harness.ts'

test('after `securityWindowMs` an equal rejection is logged in full again', async () => {
  const { registry, logger, clock } = setup({ deps: { securityWindowMs: 100 } })
  const message = 'workspace tool: command not in allowlist'
  const audit = (): void =>
    registry.audit('box', { message, code: 'command-not-allowed', key: 'curl', fields: {} })
  audit()
  await clock.advance(99)
  audit()
  expect(logger.with(message)).toHaveLength(1)
  await clock.advance(1)
  audit()
  expect(logger.with(message)).toHaveLength(2)
})
