import {
  AgentAlreadyRunningError,
  AgentDefinitionError,
  FileSystemError,
  HelixError,
  ModelError,
  PolicyError,
  SessionError,
  SnapshotStoreError,
  StateStoreError,
  ToolFailedError,
  ToolInputError,
  WorkspaceEvictedError,
  WorkspaceFailedError,
} from '@helix-agents/core'
import { FleetError, renderToolError, toToolError } from '@helix-agents/core/runtime'
import { describe, expect, test } from 'vitest'

const SECRETS = ['/home/host', 'token=abc', '    at ']

describe('what the model reads of an error', () => {
  test.each([
    ['a plain error', new Error('/home/host token=abc')],
    ['a type error', new TypeError('/home/host')],
    ['text', '/home/host'],
    ['nothing', undefined],
    ['a look-alike', { name: 'FileSystemError', message: '/home/host token=abc' }],
  ])('%s: nothing but that it failed', (_, error) => {
    const text = renderToolError(toToolError(error))
    expect(text).toContain('[internal]')
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([])
  })

  test('a cause and a stack stay with the operator', () => {
    const cause = new Error('/home/host token=abc')
    const error = new WorkspaceFailedError('provider-failed', 'it did not open', { cause })
    const text = renderToolError(toToolError(error))
    expect(text).toBe('Error [provider-failed]: it did not open')
    expect(error.cause).toBe(cause)
  })

  test('the fields that are wrong, and the hint', () => {
    const issues = [
      { path: '', message: 'is no object' },
      { path: 'a.b', message: 'is no number' },
    ]
    const error = new ToolInputError('invalid-input', 'Wrong.', { issues, hint: 'Look again.' })
    expect(renderToolError(toToolError(error))).toBe(
      'Error [invalid-input]: Wrong.\n- arguments: is no object\n- a.b: is no number\nHint: Look again.',
    )
  })

  test('an abort is an abort', () => {
    expect(toToolError(new DOMException('', 'AbortError')).code).toBe('aborted')
    expect(toToolError(new DOMException('', 'TimeoutError')).code).toBe('aborted')
  })

  test('a hostile path is shortened and made visible', () => {
    const { message } = toToolError(new FileSystemError('not-found', `/a\n${'x'.repeat(10_000)}`))
    expect(message.length).toBeLessThan(300)
    expect(message).not.toContain('\n')
  })
})

describe('errors are known by their brand, not by their class', () => {
  const errors = [
    new ToolFailedError('tool-failed', 'x'),
    new SessionError('not-resumable', 's', 'x'),
    new AgentDefinitionError('agent a', ['x']),
    new PolicyError('path-denied', 'x'),
    new AgentAlreadyRunningError('s'),
    new FileSystemError('not-found', '/x'),
    new FleetError('unavailable', 'x'),
    new ModelError('timeout'),
    new SnapshotStoreError('corrupt', 'x'),
    new StateStoreError('corrupt', 's', 'x'),
    new WorkspaceEvictedError('x'),
    new WorkspaceFailedError('provider-failed', 'x'),
  ]
  const classes = errors.map((error) => error.constructor as typeof HelixError)

  test.each(errors.map((error) => [error.name, error] as const))('%s', (_, error) => {
    const { name, message } = error
    const copy: unknown = Object.assign({}, error, { name, message })
    expect(HelixError.isInstance(copy)).toBe(true)
    expect(copy).not.toBeInstanceOf(HelixError)
    expect(classes.filter((one) => one.isInstance(copy))).toEqual([error.constructor])
    expect(ToolInputError.isInstance(copy)).toBe(false)
  })
})

test('the message of a tool has a limit', () => {
  expect(new ToolFailedError('tool-failed', 'x'.repeat(2_000)).message).toHaveLength(1_000)
  expect(new ToolFailedError('tool-failed', 'x'.repeat(1_000)).message).toHaveLength(1_000)
})
