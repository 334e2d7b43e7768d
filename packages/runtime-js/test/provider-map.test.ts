import { MockLLMAdapter, WorkspaceFailedError } from '@helix-agents/core'
import type { WorkspaceProvider } from '@helix-agents/core/provider'
import { InMemoryStateStore, InMemoryStreamManager } from '@helix-agents/store-memory'
import { InMemoryWorkspaceProvider } from '@helix-agents/workspace-memory'
import { expect, test } from 'vitest'
import { JSAgentExecutor } from '../src/index.ts'
import { toProviderMap } from '../src/executor/provider-map.ts'

const memory = new InMemoryWorkspaceProvider()
const other: WorkspaceProvider = {
  providerId: 'other',
  capabilities: {},
  refSchemaVersion: 1,
  open: (config, session, options) => memory.open({ kind: 'in-memory' }, session, options),
  resolve: (ref, options) => memory.resolve(ref, options),
}

const make = (workspaceProviders: Parameters<typeof toProviderMap>[0]) => () =>
  new JSAgentExecutor(
    new InMemoryStateStore(),
    new InMemoryStreamManager(),
    new MockLLMAdapter([]),
    workspaceProviders === undefined ? {} : { workspaceProviders },
  )

test('a list of providers is a map by their ids', () => {
  expect([...toProviderMap([memory, other])]).toEqual([
    ['in-memory', memory],
    ['other', other],
  ])
  expect(toProviderMap().size).toBe(0)
})

test('a wrong key and a second provider of a kind are refused when the executor is made', () => {
  expect(make(new Map([['memory', memory]]))).toThrow(WorkspaceFailedError)
  expect(make([memory, memory])).toThrow(WorkspaceFailedError)
  expect(make([memory, other])).not.toThrow()
})
