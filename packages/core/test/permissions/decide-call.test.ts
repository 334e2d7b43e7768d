import { describe, expect, test } from 'vitest'
import { AgentPermissions } from '../../src/permissions/agent-permissions.ts'
import { decideCall } from '../../src/permissions/decide-call.ts'
import type { PermissionRule } from '../../src/permissions/permission-rule.ts'
import type { Shell } from '../../src/modules/shell/contract.ts'
import { MapFileSystem } from '../modules/fs/map-file-system.ts'
import { StubAgent } from '../tools/stub-context.ts'

const shell: Shell = { run: () => Promise.reject(new Error('nothing runs here')) }

async function decide(rules: readonly PermissionRule[], tool: string, input: unknown) {
  const agent = new StubAgent(
    { fs: new MapFileSystem(), shell },
    { fs: { extended: true }, shell: true },
  )
  const found = agent.tools.get(tool)!
  const parsed = await found.parse(input)
  const call = { tool: found, input: parsed, access: agent.context }
  return (await decideCall([new AgentPermissions(rules)], call)).decision
}

describe('deny beats ask beats allow', () => {
  const rules: PermissionRule[] = [
    { decision: 'allow', tool: 'run' },
    { decision: 'ask', command: 'git *' },
    { decision: 'deny', command: 'git push --force' },
  ]
  test.each([
    ['ls', 'allow'],
    ['git status', 'ask'],
    ['git push origin', 'ask'],
    ['git push origin --force', 'deny'],
    ['git status && git push -v --force', 'deny'],
  ])('%s: %s', async (command, decision) => {
    expect(await decide(rules, 'run', { command })).toBe(decision)
  })

  test('a call without a rule is allowed', async () => {
    expect(await decide(rules, 'read_file', { path: '/a' })).toBe('allow')
    expect(await decide([], 'run', { command: 'ls' })).toBe('allow')
  })
})
