// A whole cluster on one machine: PostgreSQL, the web front, workers as processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTestDatabase } from '@helix-agents/postgres-testbed'
import { startWeb, type WebFront } from './web.ts'

export interface Cluster extends AsyncDisposable {
  readonly web: WebFront
  /** Processes of workers by the name of their machine. */
  readonly machines: ReadonlyMap<string, ChildProcess>
}

/** Starts all of it, each machine with files of its own; database and files are thrown away at the end. */
export async function startCluster(
  names: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Cluster> {
  const database = await createTestDatabase()
  const env = { ...process.env, ...variables, DATABASE_URL: database.url }
  const web = await startWeb(env)
  const files = mkdtempSync(join(tmpdir(), 'node-cluster-'))
  const machines = new Map(
    names.map((name) => [name, startMachine({ ...env, MACHINE: name, FILES: join(files, name) })]),
  )
  const dispose = async (): Promise<void> => {
    await Promise.all([...machines.values()].map(stopMachine))
    await web.close()
    await database.drop()
    rmSync(files, { recursive: true, force: true })
  }
  try {
    await Promise.all([...machines.values()].map(untilReady))
  } catch (error) {
    await dispose()
    throw error
  }
  return { web, machines, [Symbol.asyncDispose]: dispose }
}

function startMachine(env: NodeJS.ProcessEnv): ChildProcess {
  const program = join(import.meta.dirname, 'worker-process.ts')
  const args = ['--conditions=@helix-agents/source', program, '--drain', '5s']
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
}

/** @throws {Error} with what it said when it ends before. */
async function untilReady(child: ChildProcess): Promise<void> {
  const said: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line)
      if (line.includes('turns at a time')) resolve()
    })
  }
  child.once('exit', () => reject(new Error(`the worker has ended:\n${said.join('\n')}`)))
  await promise
}

async function stopMachine(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  await exit
}
