import { strict as assert } from 'node:assert'
import type { Agent } from '@helix-agents/core'
import {
  digestEntries,
  type SnapshotEntry,
  type SnapshotManifest,
} from '@helix-agents/core/provider'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { type JSAgentExecutor, loadBranchSeed, type MoveReport } from '@helix-agents/runtime-js'
import { exportTar, importTar } from '@helix-agents/snapshot-archive'
import { InMemorySnapshotStore } from '@helix-agents/store-memory'
import { startLocalWorker } from './local-worker.ts'
import { paint } from './narrator.ts'

/** A session of this process. */
export interface KeptSession {
  readonly agent: Agent
  readonly executor: JSAgentExecutor
  readonly store: SessionStateStore
  readonly sessionId: string
}

/**
 * Takes a session, conversation and files, into a Durable Object: a real workerd on this machine. There it
 * goes on, and its files are read back and compared. Rejects when they are not the same.
 */
export async function keepInObject(session: KeptSession, folder: string): Promise<void> {
  const lines: string[] = []
  const onLine = (line: string): void => void lines.push(line)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.once(signal, endAlone)
  const vars = { PART: 'first' }
  const worker = await startLocalWorker({ entry: 'worker.ts', folder, port: 0, vars, onLine })
  try {
    await keep(session, `${worker.url}/agents/careless/${session.sessionId}`)
  } catch (error) {
    console.error(lines.join('\n'))
    throw error
  } finally {
    await worker.stop()
    for (const signal of signals) process.off(signal, endAlone)
  }
}

/** Also ends the workerd. */
function endAlone(): never {
  process.exit(1)
}

async function keep(
  { agent, executor, store, sessionId }: KeptSession,
  url: string,
): Promise<void> {
  const seed = await loadBranchSeed({ stateStore: store }, agent, { fromSessionId: sessionId })
  const [newest] = (await store.listCheckpoints(sessionId, { limit: 1 })).items
  assert(newest !== undefined)
  const { here, report } = await executor.readFiles(
    agent,
    sessionId,
    { checkpointId: newest.id },
    async ({ manifest, ...source }) => {
      const body = new FormData()
      body.set('seed', JSON.stringify(seed))
      body.set('box', await new Response(await exportTar(source, manifest)).blob())
      const made = await ask(`${url}/import`, { method: 'POST', body })
      return { here: manifest, report: (await made.json()) as MoveReport }
    },
  )
  console.log(
    `\n${paint('yellow', '⇢')} moved to a Durable Object: ${report.files} files, ${report.bytes} bytes`,
  )
  compare('all of it', here.header.digest, report.digest)
  const modes = report.losses.filter(({ kind }) => kind === 'mode').length
  assert.equal(modes, report.losses.length)
  console.log(`    the object has no permissions: those of ${modes} paths are in the receipt`)
  const there = await goOn(url)
  compare('contents', await digestContents(here), await digestContents(there))
}

/** A turn in the object, and the files as its last checkpoint has them. */
async function goOn(url: string): Promise<SnapshotManifest> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ message: 'Is it all there?' })
  await ask(`${url}/messages`, { method: 'POST', headers, body })
  const events = await (await ask(`${url}/stream`)).text()
  assert.match(events, /It is all here/)
  console.log(`    ${paint('green', '✓')} it goes on there: It is all here.`)
  const page = (await (await ask(`${url}/checkpoints`)).json()) as { items: { id: string }[] }
  const files = await ask(`${url}/files?checkpointId=${page.items[0]?.id ?? ''}`)
  assert(files.body !== null)
  const identity = {
    sessionId: 'read-back',
    agentType: 'careless',
    workspace: 'box',
    workspaceId: 'box',
    providerId: 'cloudflare-filestore',
    createdAt: Date.now(),
  }
  const target = { store: new InMemorySnapshotStore(), scope: 'read-back' }
  return importTar(files.body, target, { identity })
}

async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response
}

function compare(what: string, here: string, there: string): void {
  console.log(`    digest of ${what.padEnd(9)}  local-bash      ${here.slice(0, 32)}`)
  console.log(`    ${' '.repeat(19)}  Durable Object  ${there.slice(0, 32)}`)
  assert.equal(there, here, `the digests of ${what} differ`)
}

/** Of paths, contents and links, without permissions. */
function digestContents({ entries }: SnapshotManifest): Promise<string> {
  return digestEntries(entries.map(withoutMode))
}

function withoutMode(entry: SnapshotEntry): SnapshotEntry {
  if (entry.type === 'symlink') return entry
  const { mode: _, ...rest } = entry
  return rest
}
