import { WorkspaceFailedError } from '@helix-agents/core'
import { describe, expect, test } from 'vitest'
import { codeOf, declare, ref, setup } from './harness.ts'

describe('stored refs', () => {
  test.each<[string, unknown]>([
    ['of another provider', ref('b1', { providerId: 'other' })],
    ['with a malformed version', ref('b1', { schemaVersion: 'one' })],
    ['without a version', ref('b1', { schemaVersion: undefined })],
    ['with an unknown field', ref('b1', { later: 1 })],
    ['with a prototype key', JSON.parse('{"__proto__":{"providerId":"fake"}}')],
    ['with a constructor key', ref('b1', { ref: { constructor: 1 } })],
    ['that are text', 'b1'],
  ])('%s fail the entry, and nothing is overwritten', async (_, stored) => {
    const { registry, events, stateOf } = setup({ names: ['box', 'other'], refs: { box: stored } })
    expect(stateOf()).toMatchObject({ state: 'failed', lastErrorCode: 'ref-invalid' })
    expect(await codeOf(registry.acquire('box'))).toBe('ref-invalid')
    registry.reset('box')
    expect(await codeOf(registry.acquire('box'))).toBe('ref-invalid')
    expect(events).toEqual([])
    await registry.acquire('other')
    await registry.close({ mode: 'end' })
    expect(events).toEqual(['open', 'persist b1', 'close b1', 'persist null'])
  })

  test('of a version the provider does not read fail with its text', async () => {
    const { registry, provider, stateOf } = setup({ refs: { box: ref('b1') } })
    provider.onResolve = () => {
      throw new WorkspaceFailedError('ref-version', 'schemaVersion 9; supported are 1 to 3')
    }
    expect(await codeOf(registry.acquire('box'))).toBe('ref-version')
    expect(stateOf().lastError).toContain('schemaVersion')
  })

  test('records from the store are read by own keys only', () => {
    const { stateOf } = setup({ names: ['constructor'], refs: {} })
    expect(stateOf('constructor').state).toBe('declared')
    expect(declare('constructor').name).toBe('constructor')
  })
})
