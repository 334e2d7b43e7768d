import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestEntries, sha256, SNAPSHOT_FORMAT_VERSION } from '@helix-agents/core/provider'
import type { SessionRequest, WorkspaceDescription } from '@helix-agents/core/runtime'
import { describe, expect, it } from 'vitest'
import { SampleFleet } from './commands/fleet/sample-fleet.ts'
import { TestHost } from './test-host.ts'

const ROOT = join(import.meta.dirname, '../../..')
const NOW = Date.UTC(2026, 10, 21, 6, 38, 38)
const MINUTE_MS = 60_000

const READ = { id: 'call-3', name: 'workspace__repo__read_file', arguments: { path: '/add.js' } }
const RUN = { id: 'call-4', name: 'workspace__repo__run', arguments: { command: 'npm test' } }

/** The sessions that the pages talk of. */
async function createHost(): Promise<TestHost> {
  const host = new TestHost()
  await host.clock.advance(NOW - host.clock.now())
  const box = { ageMs: 125 * MINUTE_MS, stepCount: 12, tookMs: 95_000 }
  await addRun(host, { ...box, sessionId: 'invoice-7', agent: 'bookkeeper', status: 'completed' })
  const repair = { agent: 'repairer', ageMs: 61 * MINUTE_MS, stepCount: 31, tookMs: 410_000 }
  await addRun(host, { ...repair, sessionId: 'repair-41', status: 'failed' })
  const paused = { ...repair, ageMs: 4 * MINUTE_MS, stepCount: 1, tookMs: 45_000 }
  await addRun(host, { ...paused, sessionId: 'repair-42', status: 'interrupted' })
  host.fetch = async () => Response.json({ workspaces: WORKSPACES })
  return host
}

const WORKSPACES: readonly WorkspaceDescription[] = [
  {
    name: 'repo',
    providerId: 'local-bash',
    state: 'open',
    stateSince: NOW - 3 * MINUTE_MS,
    capabilities: { fs: true, shell: true },
    evictions: 0,
    retries: 0,
    lastSuccessAt: NOW - 2000,
  },
  {
    name: 'cache',
    providerId: 'in-memory',
    state: 'failed',
    stateSince: NOW - 7 * MINUTE_MS,
    capabilities: { fs: true },
    evictions: 1,
    retries: 2,
    lastErrorCode: 'provider-failed',
  },
]

interface SampleRun {
  readonly sessionId: string
  readonly agent: string
  readonly ageMs: number
  readonly tookMs: number
  readonly stepCount: number
  readonly status: 'completed' | 'failed' | 'interrupted'
}

async function addRun({ stateStore }: TestHost, sample: SampleRun): Promise<void> {
  const { sessionId, agent, ageMs, stepCount, status } = sample
  const now = NOW - ageMs
  await stateStore.createSession({ sessionId, agentType: agent, customState: undefined, now })
  const write = { sessionId, runId: `b7e1-${stepCount}`, now }
  await stateStore.beginRun({ ...write, leaseMs: 1000 })
  const request = { role: 'user', content: 'Fix the failing test.' } as const
  await stateStore.appendMessages({ ...write, messages: [request] })
  const capabilities = { fs: true, shell: true }
  const ref = { providerId: 'local-bash', schemaVersion: 1, capabilities, ref: {} }
  await stateStore.saveWorkspaceRef({ ...write, workspace: 'repo', ref })
  for (let i = 0; i < stepCount; i += 1) {
    const asked = { role: 'assistant', content: '', toolCalls: [READ] } as const
    await stateStore.beginStep({ ...write, messages: [asked], journal: [] })
    const content = 'lines 1-1 of 1\n1\texport const add = (a, b) => a - b'
    const read = { role: 'tool', toolCallId: READ.id, toolName: READ.name, content } as const
    await stateStore.commitStep({ ...write, messages: [read], checkpointId: `${sessionId}-${i}` })
  }
  if (status === 'interrupted') {
    const asked = { role: 'assistant', content: 'Now the tests.', toolCalls: [RUN] } as const
    const entry = { toolCallId: RUN.id, toolName: RUN.name, arguments: RUN.arguments }
    const journal = [{ ...entry, startedAt: now + 40_000 }]
    await stateStore.beginStep({ ...write, messages: [asked], journal })
  }
  const owed = status === 'completed' ? { owed: ['repo'] } : {}
  await stateStore.endRun({ ...write, now: now + sample.tookMs, status, ...owed })
}

/** The requests that the pages talk of. */
async function createAskingHost(): Promise<TestHost> {
  const host = new TestHost()
  await host.clock.advance(NOW - host.clock.now())
  const asked = {
    kind: 'approval',
    agentPath: ['repairer'],
    createdAt: NOW - 5 * MINUTE_MS,
  } as const
  await addRequest(host, {
    ...asked,
    requestId: '0b7e',
    sessionId: 'repair-42',
    toolCallId: 'call-9',
    toolName: 'workspace__repo__edit_file',
    arguments: '{"path":"/add.js","old_string":"a - b","new_string":"a + b"}',
    preview: {
      title: 'edit /add.js',
      body: '@@ -1 +1 @@\n-export const add = (a, b) => a - b\n+export const add = (a, b) => a + b',
      format: 'diff',
    },
  })
  await addRequest(host, {
    ...asked,
    requestId: '41d2',
    sessionId: 'repair-43',
    agentPath: ['repairer', 'releaser'],
    toolCallId: 'call-2',
    toolName: 'workspace__repo__run',
    arguments: '{"command":"git push"}',
    preview: { title: 'git push' },
    expiresAt: NOW + 60 * MINUTE_MS,
  })
  return host
}

async function addRequest(
  { stateStore }: TestHost,
  request: Omit<SessionRequest, 'askingSessionId'>,
): Promise<void> {
  const { sessionId, createdAt: now } = request
  await stateStore.createSession({ sessionId, agentType: 'repairer', customState: undefined, now })
  const write = { sessionId, runId: 'run', now }
  await stateStore.beginRun({ ...write, leaseMs: 1000 })
  await stateStore.addRequests({ ...write, requests: [{ ...request, askingSessionId: sessionId }] })
}

/** The snapshots that the pages talk of. */
async function createSnapshotHost(): Promise<TestHost> {
  const host = new TestHost()
  await host.clock.advance(NOW - host.clock.now())
  const broken = 'export const add = (a, b) => a - b\n'
  await addSnapshot(host, '0b7e41d2-1f3c-4c55-8d1e-9a3c2b7f6e10', 4, { '/add.js': broken })
  await addSnapshot(host, '7c0e55d2-6b1f-4f0a-9a53-2f1d0c9be8a4', 2, {
    '/add.js': 'export const add = (a, b) => a+b\n',
    '/test.js': 'assert\n',
  })
  return host
}

async function addSnapshot(
  { snapshotStore }: TestHost,
  snapshotId: string,
  ageMinutes: number,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const blocks = await Promise.all(
    Object.values(files).map(async (text) => {
      const bytes = new TextEncoder().encode(text)
      return { bytes, hash: await sha256(bytes) }
    }),
  )
  const entries = Object.keys(files).map((path, index) => {
    const { bytes, hash } = blocks[index] ?? { bytes: '', hash: '' }
    return { path, type: 'file', size: bytes.length, blocks: [hash] } as const
  })
  await snapshotStore.putBlocks('line', blocks)
  const header = {
    formatVersion: SNAPSHOT_FORMAT_VERSION,
    snapshotId,
    createdAt: NOW - ageMinutes * MINUTE_MS,
    sessionId: 'repair-42',
    agentType: 'repairer',
    workspace: 'repo',
    providerId: 'local-bash',
    workspaceId: 'box',
    entries: entries.length,
    bytes: entries.reduce((sum, { size }) => sum + size, 0),
    digest: await digestEntries(entries),
  } as const
  await snapshotStore.putManifest('line', { header, entries })
}

/** The sandboxes that the pages talk of. */
async function createFleetHost(): Promise<TestHost> {
  const sample = new SampleFleet()
  await sample.add('sandbox-41', { agentType: 'repairer', taskId: 'task-7' })
  await sample.later(9)
  await sample.fleet.cleanup()
  await sample.addOwed('sandbox-42')
  await sample.later(2)
  const request = { id: 'sandbox-43', provider: 'sample', agentType: 'bookkeeper' }
  await sample.fleet.admission.open(request, async () => {})
  await sample.later(1)
  return sample.host
}

/** Commands and what the page says that they print. */
function transcriptsOf(page: string): (readonly [command: string, output: string])[] {
  const fences = readFileSync(join(ROOT, page), 'utf8').matchAll(/^```text\n([\s\S]*?)^```$/gm)
  return [...fences].map(([, text = '']) => {
    const end = text.indexOf('\n')
    return [text.slice(0, end).replace('$ helix ', ''), text.slice(end + 1)]
  })
}

describe.each(['packages/cli/README.md', 'docs/guide/cli.md'])('%s', (page) => {
  it.each(transcriptsOf(page))('shows what `helix %s` prints', async (command, output) => {
    const [group] = command.split(' ')
    const create = {
      fleet: createFleetHost,
      approvals: createAskingHost,
      snapshots: createSnapshotHost,
    }[String(group)]
    const host = await (create ?? createHost)()
    const { out } = await host.run(command.split(' '))
    expect(out).toBe(output)
  })
})
