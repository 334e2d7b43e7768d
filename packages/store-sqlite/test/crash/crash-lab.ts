// A place on the disk for one session, the processes that work on it one after the other, and the
// evidence at the end.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { defineAgent, MockLLMAdapter, systemClock } from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import { ManualClock } from '@helix-agents/core/testing'
import { type AgentHandle, JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores, type SqliteStores } from '@helix-agents/store-sqlite'
import { reapLocalBashTmpdirs, type ReapReport } from '@helix-agents/workspace-local-bash'
import { CrashChild } from './child-process.ts'
import type { ChildTask } from './child-task.ts'
import type { Evidence, StoredSession } from './evidence.ts'
import { AGENT, EDITED_FILE, planSessions } from './session-plan.ts'
import { StreamClient } from './stream-client.ts'

/** Longer than the lease of an executor, so that no process waits for one that was killed. */
export const LIFE_MS = 100_000
const servedAgent = defineAgent({ name: AGENT, llmConfig: { model: {} } })
const MONTH_MS = 30 * 24 * 3_600_000

export class CrashLab {
  readonly sessionId: string
  readonly steps: number
  readonly client = new StreamClient()
  /** Processes started so far. */
  lives = 0
  readonly #childFile: string
  readonly #directory = realpathSync(mkdtempSync(join(tmpdir(), 'helix-crash-')))
  readonly #spares: CrashChild[] = []

  constructor(childFile: string, sessionId: string, steps: number) {
    this.#childFile = childFile
    this.sessionId = sessionId
    this.steps = steps
    mkdirSync(this.#tmpdirRoot)
  }

  get #tmpdirRoot(): string {
    return join(this.#directory, 'tmp')
  }

  get #database(): string {
    return join(this.#directory, 'sessions.sqlite')
  }

  get #effectLog(): string {
    return join(this.#directory, 'effects.log')
  }

  /** Loads processes, so that each of the next ones starts at once. */
  async prepare(count: number): Promise<void> {
    while (this.#spares.length < count) this.#spares.push(new CrashChild(this.#childFile))
    for (const spare of this.#spares) await spare.until(() => spare.hasSaid('ready'))
  }

  /** Starts the next process; the one after it is loaded meanwhile. */
  async next(task: Partial<ChildTask> = {}): Promise<CrashChild> {
    const child = this.#spares.shift() ?? new CrashChild(this.#childFile)
    await child.until(() => child.hasSaid('ready'))
    child.give({
      database: this.#database,
      tmpdirRoot: this.#tmpdirRoot,
      effectLog: this.#effectLog,
      sessionId: this.sessionId,
      steps: this.steps,
      clockAheadMs: this.lives * LIFE_MS,
      ...task,
    })
    this.lives += 1
    if (this.#spares.length === 0) this.#spares.push(new CrashChild(this.#childFile))
    return child
  }

  openStores() {
    return openSqliteStores(this.#database)
  }

  /** Finished steps of the session. */
  async stepsDone(): Promise<number> {
    const stores = await this.openStores()
    const session = await stores.stateStore.loadSession(this.sessionId)
    await stores.close()
    return session?.stepCount ?? 0
  }

  /** Lets the client watch what a process does. */
  async watch<T>(work: () => Promise<T>): Promise<T> {
    const stores = await this.openStores()
    const server = await this.#serve(stores)
    if (server !== null) this.client.connect(server)
    try {
      return await work()
    } finally {
      await this.client.disconnect()
      await stores.close()
    }
  }

  /** Reads what is left, reaps, and looks again. */
  async collect(): Promise<Evidence> {
    await this.#endSpares()
    const stores = await this.openStores()
    const server = await this.#serve(stores)
    const hasEnded = server !== null && (await this.client.readToEnd(server))
    const sessions = await loadSessions(stores.stateStore)
    await stores.close()
    const effects = [...linesOf(this.#effectLog), ...this.#effectsInFiles()]
    await this.reap(MONTH_MS)
    return {
      plans: planSessions(this.sessionId, this.steps),
      sessions,
      effects,
      chunks: this.client.chunks,
      hasStreamEnded: hasEnded,
      directories: readdirSync(this.#tmpdirRoot),
      processes: processesOf(this.#tmpdirRoot),
      damage: damageOf(this.#database),
    }
  }

  /** The process that clients are connected to; it runs nothing itself. */
  #serve({ stateStore, streamManager }: SqliteStores): Promise<AgentHandle | null> {
    const clock = { ...systemClock, now: () => systemClock.now() + this.lives * LIFE_MS }
    const adapter = new MockLLMAdapter([])
    const executor = new JSAgentExecutor(stateStore, streamManager, adapter, { clock })
    return executor.getHandle(servedAgent, this.sessionId)
  }

  async remove(): Promise<void> {
    await this.#endSpares()
    await this.reap(MONTH_MS)
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** As if so much time had passed since the last process started. */
  reap(laterMs: number): Promise<ReapReport> {
    const clock = new ManualClock(Date.now() + this.lives * LIFE_MS + laterMs)
    return reapLocalBashTmpdirs({ tmpdirRoot: this.#tmpdirRoot, clock })
  }

  async #endSpares(): Promise<void> {
    const spares = this.#spares.splice(0)
    for (const spare of spares) spare.kill('SIGKILL')
    await Promise.all(spares.map(({ ended }) => ended))
  }

  #effectsInFiles(): readonly string[] {
    return readdirSync(this.#tmpdirRoot).flatMap((name) => {
      const root = join(this.#tmpdirRoot, name, 'root')
      const files = namesIn(root).filter((file) => file.startsWith('ordered-'))
      const lines = [EDITED_FILE, ...files].flatMap((file) => linesOf(join(root, file)))
      return lines.filter((line) => line !== 'start' && line !== 'END')
    })
  }
}

async function loadSessions(store: SessionStateStore): Promise<readonly StoredSession[]> {
  const sessions: StoredSession[] = []
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined;) {
    const page = await store.listSessions({
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    })
    for (const { sessionId, status, stepCount, customState } of page.items) {
      const { messages } = await store.loadMessages(sessionId)
      sessions.push({ sessionId, status, stepCount, customState, messages })
    }
    isFirst = false
    cursor = page.nextCursor
  }
  return sessions
}

function linesOf(path: string): readonly string[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return text.split('\n').filter((line) => line !== '')
}

/** A process may have died while it made or removed the directory. */
function namesIn(path: string): readonly string[] {
  return existsSync(path) ? readdirSync(path) : []
}

/** Processes that were started for a workspace below a directory. */
function processesOf(root: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environmentOf(pid).includes(`HOME=${root}`))
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    // Ended meanwhile, or another user's.
    return ''
  }
}

function damageOf(file: string): readonly string[] {
  const database = new DatabaseSync(file)
  const rows = database.prepare('PRAGMA integrity_check').all()
  const broken = database.prepare('PRAGMA foreign_key_check').all()
  database.close()
  const texts = rows.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok')
  return [...texts, ...broken.map((row) => JSON.stringify(row))]
}
