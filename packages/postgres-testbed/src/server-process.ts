import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { PostgresTestbedError } from './postgres-testbed-error.ts'
import type { ServerUser } from './server-user.ts'

/** How a server stops; `immediate` is a crash, after which it recovers from its log. */
export type StopMode = 'fast' | 'immediate'

/** What a server process needs. */
export interface ServerPlace {
  /** Folder of `initdb` and `postgres`. */
  readonly binaries: string
  /** Folder of the data and of the socket. */
  readonly directory: string
  readonly user: ServerUser | undefined
}

const run = promisify(execFile)
const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const
const READY = 'database system is ready to accept connections'
const KEPT_LINES = 20

/**
 * Runs the server and waits for it. Standard input belongs to the process that started it: its end means
 * that this process is gone, and then the server ends and its folder with it.
 */
const SUPERVISOR = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
trap 'gone=yes; kill -QUIT $server' USR1
(read -r word <&3 || kill -USR1 $$) &
reader=$!
wait $server
code=$?
if [ -n "$gone" ]; then
  wait $server
  rm -rf "$PWD"
fi
kill $reader
exit $code
`

/** What the data of every server are made with. */
export const INITDB_FLAGS: readonly string[] = [
  '--no-sync',
  '--no-instructions',
  '--auth=trust',
  '--username=postgres',
  // Not the order of bytes: a statement that relies on it must name it.
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=icu',
  '--icu-locale=en-US',
]

/** @throws {PostgresTestbedError} initialization-failed */
export async function initializeData(place: ServerPlace): Promise<void> {
  const data = join(place.directory, 'data')
  const args = ['-D', data, ...INITDB_FLAGS]
  try {
    await run(join(place.binaries, 'initdb'), args, spawnOptions(place))
  } catch (cause) {
    const text = `initdb failed: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new PostgresTestbedError('initialization-failed', text, { cause })
  }
}

/** A running server. */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<Writable, null, Readable>
  readonly #place: ServerPlace
  readonly #exit: Promise<unknown>

  private constructor(place: ServerPlace, child: ChildProcessByStdio<Writable, null, Readable>) {
    this.#place = place
    this.#child = child
    this.#exit = once(child, 'exit')
  }

  /**
   * Starts a server on initialized data and waits until it accepts connections.
   *
   * @throws {PostgresTestbedError} start-failed
   */
  static async start(
    place: ServerPlace,
    settings: Readonly<Record<string, string>>,
  ): Promise<ServerProcess> {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = [join(place.binaries, 'postgres'), '-D', 'data', '-k', place.directory, ...flags]
    const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'sh', ...server], {
      ...spawnOptions(place),
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    const process = new ServerProcess(place, child)
    await untilReady(child)
    process.#letParentEnd()
    return process
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Stops the server and waits for its end. */
  async stop(mode: StopMode): Promise<void> {
    if (this.isRunning) {
      process.kill(postmasterId(this.#place.directory), SIGNALS[mode])
    }
    this.#child.ref()
    await this.#exit
  }

  /** A server that no one stopped does not keep its process running. */
  #letParentEnd(): void {
    this.#child.unref()
    for (const stream of [this.#child.stdin, this.#child.stderr]) {
      if (stream instanceof Socket) stream.unref()
    }
  }
}

function spawnOptions({ directory, user }: ServerPlace): {
  cwd: string
  env: NodeJS.ProcessEnv
  uid?: number
  gid?: number
} {
  return { cwd: directory, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }, ...user }
}

function postmasterId(directory: string): number {
  return Number(readFileSync(join(directory, 'data/postmaster.pid'), 'utf8').split('\n')[0])
}

/** The server writes few lines; they are read to the end, so that it never waits for a reader. */
function untilReady(child: ChildProcessByStdio<Writable, null, Readable>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const last: string[] = []
  const lines = createInterface({ input: child.stderr })
  lines.on('line', (line) => {
    if (line.includes(READY)) resolve()
    last.push(line)
    if (last.length > KEPT_LINES) last.shift()
  })
  lines.once('close', () => {
    reject(new PostgresTestbedError('start-failed', `the server ended: ${last.join('\n')}`))
  })
  return promise
}
