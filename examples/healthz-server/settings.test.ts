import { expect, test } from 'vitest'
import { readSettings } from './settings.ts'

test('no other host can reach a server without a token', () => {
  expect(readSettings({})).toMatchObject({ host: '127.0.0.1', port: 8787, token: undefined })
  expect(() => readSettings({ HOST: '0.0.0.0' })).toThrow(/HELIX_TOKEN/)
  const token = 'a-token-long-enough'
  expect(readSettings({ HOST: '0.0.0.0', HELIX_TOKEN: token })).toMatchObject({ token })
})

test('each variable that is wrong is named', () => {
  const wrong = { PORT: 'http', HELIX_TOKEN: 'short', HELIX_LEASE_MS: '0' }
  expect(() => readSettings(wrong)).toThrow(/PORT.*HELIX_TOKEN.*HELIX_LEASE_MS/)
})
