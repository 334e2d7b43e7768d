import { describe, expect, test } from 'vitest'
import { FileSystemError } from '@helix-agents/core'
import { AgentPermissions } from '../../src/permissions/agent-permissions.ts'
import { decideCall } from '../../src/permissions/decide-call.ts'
import type { PermissionRule } from '../../src/permissions/permission-rule.ts'
import { MapFileSystem } from '../modules/fs/map-file-system.ts'
import { StubAgent } from '../tools/stub-context.ts'

/** Files with links, as a provider resolves them. */
class LinkedFiles extends MapFileSystem {
  readonly links = new Map([
    ['/link', '/secrets'],
    ['/direct', '/secrets/key'],
  ])

  async realPath(given: string, { followLast = true } = {}): Promise<string> {
    if (given === '/loop') throw new FileSystemError('not-found', given)
    for (const [link, target] of this.links) {
      if (given === link) return followLast ? target : given
      if (given.startsWith(`${link}/`)) return target + given.slice(link.length)
    }
    return given
  }
}

const DENY: readonly PermissionRule[] = [{ decision: 'deny', path: '/secrets/**' }]

async function decide(tool: string, input: unknown, rules = DENY): Promise<string> {
  const files = new LinkedFiles()
  await files.writeFile('/secrets/key', 'k')
  await files.writeFile('/open/a', 'a')
  const agent = new StubAgent({ fs: files, shellRoot: '/tmp/box' }, { fs: { extended: true } })
  const found = agent.tools.get(tool)!
  const call = { tool: found, input: await found.parse(input), access: agent.context }
  return (await decideCall([new AgentPermissions(rules)], call)).decision
}

const patchOf = (path: string) => `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-k\n+x\n`

describe('every way to a path that a rule is about', () => {
  test.each<[string, unknown]>([
    ['read_file', { path: '/secrets/key' }],
    ['read_file', { path: 'secrets/key' }],
    ['read_file', { path: '/open/../secrets/key' }],
    ['read_file', { path: '//secrets/./key' }],
    ['read_file', { path: '/secrets/key/' }],
    ['read_file', { path: '/Secrets/KEY' }],
    ['read_file', { path: '/tmp/box/secrets/key' }],
    ['read_file', { path: '/link/key' }],
    ['read_file', { path: '/direct' }],
    ['write_file', { path: '/link/new', content: '' }],
    ['write_file', { path: '/secrets/sub/deep/new', content: '' }],
    ['append_file', { path: '/secrets/key', content: '' }],
    ['edit_file', { path: '/secrets/key', oldText: 'k', newText: 'x' }],
    ['multi_edit', { path: '/direct', edits: [{ oldText: 'k', newText: 'x' }] }],
    ['ls', { path: '/secrets/' }],
    ['stat', { path: '/secrets' }],
    ['glob', { pattern: '**' }],
    ['glob', { pattern: '*', path: '/secrets' }],
    ['grep', { pattern: 'k' }],
    ['grep', { pattern: 'k', opts: { path: '/secrets/key' } }],
    ['mkdir', { path: '/secrets/x' }],
    ['rm', { path: '/', opts: { recursive: true } }],
    ['rm', { path: '/link/key' }],
    ['copy', { from: '/secrets', to: '/open/b' }],
    ['copy', { from: '/open', to: '/secrets/b' }],
    ['copy', { from: '/', to: '/copy' }],
    ['move', { from: '/open/a', to: '/link/a' }],
    ['apply_patch', { patch: patchOf('/secrets/key') }],
    ['apply_patch', { patch: '--- a/secrets/key\n+++ b/secrets/key\n@@ -1 +1 @@\n-k\n+x\n' }],
    ['apply_patch', { patch: patchOf('/open/a') + patchOf('/direct') }],
  ])('%s %j', async (tool, input) => {
    expect(await decide(tool, input)).toBe('deny')
  })
})

describe('what a rule is not about', () => {
  test.each<[string, unknown]>([
    ['read_file', { path: '/open/a' }],
    ['read_file', { path: '/secretsx' }],
    ['read_file', { path: '/loop' }],
    ['read_file', { path: '/../secrets/key' }],
    ['rm', { path: '/link' }],
    ['rm', { path: '/open', opts: { recursive: true } }],
    ['move', { from: '/direct', to: '/open/link' }],
    ['copy', { from: '/open/a', to: '/open/b' }],
    ['ls', {}],
    ['grep', { pattern: 'k', opts: { path: '/open' } }],
    ['apply_patch', { patch: patchOf('/open/a') }],
    ['apply_patch', { patch: 'no patch' }],
  ])('%s %j', async (tool, input) => {
    expect(await decide(tool, input)).toBe('allow')
  })
})

test('forms of one letter are the same path, as on file systems that take them so', async () => {
  const rules: PermissionRule[] = [{ decision: 'ask', path: '/caf\u00E9/*.MD' }]
  expect(await decide('read_file', { path: '/cafe\u0301/x.md' }, rules)).toBe('ask')
  expect(await decide('read_file', { path: '/CAF\u00C9/x.Md' }, rules)).toBe('ask')
  expect(await decide('read_file', { path: '/cafe/x.md' }, rules)).toBe('allow')
})

test('a class of letters that has no lower case form still matches as it is written', async () => {
  const rules: PermissionRule[] = [{ decision: 'ask', path: '/[Z-a]' }]
  expect(await decide('read_file', { path: '/Z' }, rules)).toBe('ask')
})

test('a file is no directory: a pattern of names anywhere does not ask for every copy', async () => {
  const rules: PermissionRule[] = [{ decision: 'ask', path: '**/.env' }]
  expect(await decide('copy', { from: '/open/a', to: '/open/b' }, rules)).toBe('allow')
  expect(await decide('copy', { from: '/open', to: '/b' }, rules)).toBe('ask')
  expect(await decide('write_file', { path: '/x/.env', content: '' }, rules)).toBe('ask')
})

test('workspaces are opened only where a rule needs paths', async () => {
  const agent = new StubAgent({ fs: new LinkedFiles() }, { fs: true })
  const tool = agent.tools.get('read_file')!
  const call = { tool, input: { path: '/a' }, access: agent.context }
  const rules = new AgentPermissions([{ decision: 'deny', path: '/b', tool: 'write_file' }])
  expect(await decideCall([rules], call)).toEqual({ decision: 'allow' })
  expect(agent.access.uses).toEqual([])
})
