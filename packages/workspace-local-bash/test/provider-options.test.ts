import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { expect, test } from 'vitest'

test.each([
  { maxConcurrentCommands: 0 },
  { maxConcurrentCommands: -1 },
  { maxConcurrentCommands: Number.NaN },
  { maxProcesses: 300 },
  { maxProcesses: 301.5 },
  { snapshots: { maxSnapshots: 0 } },
  { snapshots: { maxSnapshots: 1.5 } },
  { snapshots: { maxBytes: 0 } },
])('%j is rejected before anything is opened, and named', (options) => {
  const name = Object.keys(options.snapshots ?? options)[0] ?? ''
  expect(() => new LocalBashWorkspaceProvider(options)).toThrow(
    expect.objectContaining({
      code: 'config-invalid',
      message: expect.stringContaining(name) as unknown,
    }),
  )
})
