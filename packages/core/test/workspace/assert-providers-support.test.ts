import { WorkspaceFailedError } from '@helix-agents/core'
import {
  assertProvidersSupport,
  assertRuntimeSupportsWorkspaces,
  type Capabilities,
} from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'
import { FakeProvider } from '../registry/fake-provider.ts'
import { declare } from '../registry/harness.ts'

const providers = () =>
  new Map([
    ['fake', new FakeProvider()],
    ['second', new FakeProvider([], 'second')],
  ])
const check =
  (changes: Parameters<typeof declare>[1] = {}, map = providers()) =>
  () =>
    assertProvidersSupport({ box: declare('box', changes) }, map)

describe('assertProvidersSupport', () => {
  test('accepts what the providers can do', () => {
    expect(check()).not.toThrow()
  })

  test('an unknown kind is refused, naming the registered ones', () => {
    const run = check({ provider: { kind: 'missing' } })
    expect(run).toThrow(expect.objectContaining({ code: 'config-invalid' }))
    expect(run).toThrow(/missing.*fake, second/)
    expect(check({}, new Map())).toThrow(/none/)
  })

  test('a provider under another name is refused', () => {
    const run = check({}, new Map([['fake', new FakeProvider([], 'other')]]))
    expect(run).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })

  test('a capability the provider lacks is refused', () => {
    const run = check({ capabilities: { fs: {}, shell: {} } as Capabilities })
    expect(run).toThrow(expect.objectContaining({ code: 'capability-missing' }))
    expect(run).toThrow(
      'workspace "box" declares shell, which its provider fake does not offer; ' +
        'likely cause: a provider that only stores files has no shell',
    )
  })

  test.each([
    ['fake', 'which its provider fake does not offer'],
    [
      'cloudflare-sandbox',
      'which its provider cloudflare-sandbox does not offer; likely cause: a sandbox takes ' +
        'snapshots only with its backup bucket configured (backupR2Binding)',
    ],
  ])('%s without snapshots is refused, with the likely cause where there is one', (kind, why) => {
    const provider = new FakeProvider([], kind)
    Object.assign(provider, { capabilities: { fs: true } })
    const capabilities = { fs: {}, snapshot: {} } as Capabilities
    const run = check({ provider: { kind }, capabilities }, new Map([[kind, provider]]))
    expect(run).toThrow(
      expect.objectContaining({ message: `workspace "box" declares snapshot, ${why}` }),
    )
  })

  test.each([
    [
      'its own error',
      new WorkspaceFailedError('config-invalid', 'size: too large'),
      { code: 'config-invalid', message: 'size: too large' },
    ],
    [
      'any other error, which is its cause',
      new TypeError('broken'),
      {
        code: 'config-invalid',
        message: 'the provider options of workspace "box" are not valid',
        cause: new TypeError('broken'),
      },
    ],
  ])('a wrong provider config is refused: %s', (_, error, told) => {
    const map = providers()
    Object.assign(map.get('fake')!, {
      parseConfig: () => {
        throw error
      },
    })
    expect(check({}, map)).toThrow(expect.objectContaining(told))
  })
})

describe('assertRuntimeSupportsWorkspaces', () => {
  test('names the agent and the runtime', () => {
    const agent = { name: 'writer', workspaces: { box: declare('box') } }
    const run = () => assertRuntimeSupportsWorkspaces(agent, 'Temporal')
    expect(run).toThrow(expect.objectContaining({ code: 'config-invalid' }))
    expect(run).toThrow(/Temporal runtime does not support workspaces.*"writer"/)
  })

  test('accepts an agent without workspaces', () => {
    expect(() => assertRuntimeSupportsWorkspaces({ name: 'a', workspaces: {} }, 'T')).not.toThrow()
  })
})
