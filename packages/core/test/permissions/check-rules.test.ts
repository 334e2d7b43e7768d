import { describe, expect, test } from 'vitest'
import { defineAgent, defineTool, type PermissionRule } from '@helix-agents/core'
import * as z from 'zod'

const greet = defineTool({
  name: 'greet',
  description: 'Greets.',
  inputSchema: z.object({ name: z.string() }),
  execute: ({ name }) => `Hello ${name}`,
})

function define(permissions: readonly PermissionRule[]) {
  return defineAgent({
    name: 'tester',
    llmConfig: { model: 'mock' },
    tools: [greet],
    workspaces: {
      box: { provider: { kind: 'in-memory' }, capabilities: { fs: true, shell: true } },
      notes: { provider: { kind: 'in-memory' }, capabilities: { fs: true } },
    },
    permissions,
  })
}

function problemsOf(...permissions: readonly unknown[]): string {
  try {
    define(permissions as PermissionRule[])
    return ''
  } catch (error) {
    return String(error).replace(/^.*not valid:\n- /, '')
  }
}

describe('rules that are accepted', () => {
  test.each<PermissionRule>([
    { decision: 'ask', command: 'git push *' },
    { decision: 'deny', command: '*' },
    { decision: 'deny', command: `"my tool" *`, tool: 'run', workspace: 'box' },
    { decision: 'allow', tool: 'read_file' },
    { decision: 'ask', tool: 'workspace__notes__rm' },
    { decision: 'ask', tool: 'greet' },
    { decision: 'deny', path: '/secrets/**' },
    { decision: 'deny', path: '**/.env', tool: 'write_file', workspace: 'notes' },
    { decision: 'ask', workspace: 'box' },
  ])('%j', (rule) => {
    expect(define([rule]).permissions).toEqual([rule])
  })

  test('an agent keeps its own copy of its rules', () => {
    const rule = { decision: 'deny' as const, command: 'curl *' }
    const agent = define([rule])
    rule.command = 'wget *'
    expect(agent.permissions).toEqual([{ decision: 'deny', command: 'curl *' }])
    expect(Object.isFrozen(agent.permissions?.[0])).toBe(true)
  })
})

describe('rules that can never match, or never decide', () => {
  test.each<[unknown, string]>([
    [{ decision: 'ask' }, 'permissions.0: it names no tool, workspace, command or path'],
    [{ decision: 'maybe', tool: 'greet' }, 'permissions.0: decision: Invalid option'],
    [{ decision: 'ask', tools: 'greet' }, 'Unrecognized key: "tools"'],
    [{ decision: 'ask', tool: 'constructor' }, 'it can never match: the agent has no tool'],
    [{ decision: 'ask', tool: '__proto__' }, 'it can never match: the agent has no tool'],
    [{ decision: 'ask', tool: 'append_file' }, 'the agent has no tool append_file'],
    [{ decision: 'ask', tool: 'run', workspace: 'notes' }, 'workspace notes has no tool run'],
    [{ decision: 'ask', tool: 'greet', workspace: 'box' }, 'workspace box has no tool greet'],
    [{ decision: 'ask', workspace: 'toString' }, 'the agent has no workspace toString'],
    [{ decision: 'ask', workspace: 'other' }, 'has no workspace other; it has box, notes'],
    [{ decision: 'ask', command: 'ls', workspace: 'notes' }, 'no tool of it runs commands'],
    [{ decision: 'ask', command: 'ls', tool: 'rm' }, 'the tool rm runs no commands'],
    [{ decision: 'ask', path: '/a', tool: 'run' }, 'the tool run names no paths'],
    [{ decision: 'ask', path: '/a', tool: 'greet' }, 'the tool greet names no paths'],
    [{ decision: 'ask', path: '/a', command: 'ls' }, 'no tool has both a command and paths'],
    [{ decision: 'ask', path: '/[' }, 'the path "/[" is no glob'],
    [{ decision: 'ask', path: '/../a' }, 'the path "/../a" is no glob'],
    [{ decision: 'ask', path: '' }, 'permissions.0: path: Too small'],
    [{ decision: 'ask', command: 'git | sh' }, 'the command "git | sh": "|" at position 5'],
    [{ decision: 'ask', command: "git 'push" }, `"'" at position 5 is not closed`],
    [{ decision: 'ask', command: 'A=b git' }, 'sets a variable'],
    [{ decision: 'ask', command: '   ' }, 'it has no words'],
    [{ decision: 'ask', command: "git ''" }, 'it has an empty word'],
    ['deny', 'permissions.0: Invalid input'],
  ])('%j', (rule, problem) => {
    expect(problemsOf(rule)).toContain(problem)
  })

  test('a list that is none', () => {
    const permissions = { decision: 'ask', tool: 'greet' } as unknown as PermissionRule[]
    expect(() => define(permissions)).toThrow('permissions must be an array of rules')
  })

  test('the same rule twice, and one beside a stronger one, in any order', () => {
    const ask: PermissionRule = { decision: 'ask', command: 'git push *' }
    const deny: PermissionRule = { decision: 'deny', command: 'git push *' }
    expect(problemsOf(ask, ask)).toContain('permissions.1: it never decides beside ask: command')
    expect(problemsOf(deny, ask)).toContain('permissions.1: it never decides beside deny: command')
    expect(problemsOf(ask, deny)).toContain('ask: command "git push *" never decides beside it')
    expect(problemsOf(ask, { ...deny, tool: 'run' })).toBe('')
  })

  test('all problems are named at once', () => {
    const problems = problemsOf({ decision: 'ask' }, { decision: 'ask', tool: 'nope' })
    expect(problems).toMatch(/permissions\.0: .*\n- permissions\.1: /)
  })
})
