// What a workspace does where the host gives no namespace for processes.
import { noopLogger, systemClock } from '@helix-agents/core'
import { logMessages } from '@helix-agents/core/provider'
import { RecordingLogger } from '@helix-agents/core/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { LocalBashWorkspacesOptions } from '../../src/local-bash-workspaces.ts'
import { useDirectory } from '../snapshots/store/store-fixture.ts'

const base = useDirectory()
const NAMESPACE = '../../src/shell/namespace/namespace.ts'
const reason = 'the program unshare is not installed'

beforeEach(() => {
  vi.resetModules()
  vi.doMock(NAMESPACE, async (original) => ({
    ...(await original<object>()),
    probeNamespace: () => Promise.resolve({ reason }),
  }))
})
afterEach(() => {
  vi.doUnmock(NAMESPACE)
  vi.resetModules()
})

const parseConfig = () => ({ kind: 'local-bash' as const })

async function open(
  containment: NonNullable<LocalBashWorkspacesOptions['containment']>,
  logger = noopLogger,
) {
  const { LocalBashWorkspaces } = await import('../../src/local-bash-workspaces.ts')
  const all = new LocalBashWorkspaces({ tmpdirRoot: base(), containment, parseConfig })
  const session = { sessionId: 's', agentType: 'a' }
  const { signal } = new AbortController()
  const options = { workspace: 'box', capabilities: {}, signal, logger, clock: systemClock }
  return all.open({ env: {}, isolation: 'none', session, options })
}

it('one that must have it is not opened', async () => {
  await expect(open('namespace')).rejects.toMatchObject({
    code: 'config-invalid',
    message: `containment 'namespace' needs a namespace for processes, which the host does not allow: ${reason}`,
    hint: "An operator must allow user namespaces, or choose containment 'auto'.",
  })
})

it('one that takes it where it is has none, and the log says why', async () => {
  const logger = new RecordingLogger()
  const { ws } = await open('auto', logger)
  expect(ws).toMatchObject({ containment: 'scan' })
  const fields = { providerId: 'local-bash', isolation: 'none', containment: 'scan', reason }
  expect(logger.lines).toEqual([{ level: 'warn', message: logMessages.noIsolation, fields }])
  await ws.close()
})
