import { expect, test } from 'vitest'
import { isReservedToolName, isToolName, workspaceToolName } from '../../src/tools/tool-name.ts'

test('an injected tool carries the name of its workspace', () => {
  expect(workspaceToolName('box', 'run')).toBe('workspace__box__run')
  expect(isReservedToolName('workspace__box__run')).toBe(true)
  expect(isReservedToolName('workspace_run')).toBe(false)
})

test.each([
  ['read', true],
  ['a'.repeat(64), true],
  ['a'.repeat(65), false],
  ['', false],
  ['a b', false],
  ['é', false],
  ['a.b', false],
  ['a\n', false],
])('%j as a tool name: %s', (name, expected) => {
  expect(isToolName(name)).toBe(expected)
})
