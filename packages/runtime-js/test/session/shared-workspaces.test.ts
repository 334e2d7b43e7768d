// The workspaces of a sub-agent that shares those of its parent: of two with one name it is the parent's.
import type { WorkspaceAccess } from '@helix-agents/core'
import { expect, test } from 'vitest'
import { SharedWorkspaces } from '../../src/session/shared-workspaces.ts'

function accessOf(owner: string, names: readonly string[]) {
  const told =
    (method: string) =>
    (name: string, ...given: unknown[]) =>
      [owner, method, name, ...given] as never
  return {
    clock: `clock of ${owner}`,
    metrics: `metrics of ${owner}`,
    has: (name: string) => names.includes(name),
    providerId: told('providerId'),
    use: told('use'),
    switchTo: told('switchTo'),
    takeNotice: told('takeNotice'),
    audit: told('audit'),
  } as unknown as WorkspaceAccess
}

const shared = new SharedWorkspaces(
  accessOf('parent', ['both', 'theirs']),
  accessOf('own', ['both', 'mine']),
)

test('it has those of both', () => {
  expect(['both', 'theirs', 'mine', 'none'].map((name) => shared.has(name))).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect([shared.clock, shared.metrics]).toEqual(['clock of own', 'metrics of own'])
})

test.each([
  ['both', 'parent'],
  ['theirs', 'parent'],
  ['mine', 'own'],
  ['none', 'own'],
])('what is done with %s is done by the %s', (name, owner) => {
  const [work, options, ref] = [async () => {}, { idempotent: true }, { ref: 1 } as never]
  expect(shared.providerId(name)).toEqual([owner, 'providerId', name])
  expect(shared.use(name, work, options)).toEqual([owner, 'use', name, work, options])
  expect(shared.switchTo(name, ref)).toEqual([owner, 'switchTo', name, ref])
  expect(shared.takeNotice(name)).toEqual([owner, 'takeNotice', name])
})
