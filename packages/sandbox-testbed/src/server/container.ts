import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildGroups } from './child-groups.ts'
import { Costs } from './costs.ts'
import { hasRealCosts } from './environment.ts'
import type { CodeContext } from './interpreter/code-context.ts'
import { ExecutorPool } from './interpreter/executor-pool.ts'
import type { ArgvProcess } from './next/argv-process.ts'
import type { BackgroundProcess } from './processes/background-process.ts'
import { SessionRegistry } from './sessions/session-registry.ts'
import type { Snapshot } from './watch/snapshot.ts'

/** What all connections to one container share. */
export class Container {
  /** Differs from that of every other start. */
  readonly bootId = randomUUID()
  readonly groups = new ChildGroups()
  /** A directory of the server's own, for what commands leave. */
  readonly directory = mkdtempSync(join(tmpdir(), 'sandbox-server-'))
  readonly sessions = new SessionRegistry(this.directory, this.groups)
  /** The processes that were ever started, by id. */
  readonly processes = new Map<string, BackgroundProcess>()
  /** Commands of the 0.13 line, by id. */
  readonly commands = new Map<string, ArgvProcess>()
  readonly costs = new Costs(hasRealCosts())
  /** Interpreters that wait for a context. */
  readonly executors = new ExecutorPool(this.groups)
  /** The code contexts, by id. */
  readonly contexts = new Map<string, CodeContext>()
  /** What was seen by those who ask for changes, by scope. */
  readonly changes = new Map<string, { readonly count: number; readonly snapshot: Snapshot }>()

  /** Ends every child and removes what the server kept. */
  close(): void {
    this.groups.killAll()
    rmSync(this.directory, { recursive: true, force: true })
  }
}
