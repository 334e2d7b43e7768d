import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

export interface LocalWorkerOptions {
  /** The module of the Worker, beside this file or below. */
  readonly entry: string
  /** Holds what the Worker stores; outlives it. */
  readonly folder: string
  /** 0 for any that is free. */
  readonly port: number
  /** Variables of the Worker. */
  readonly vars: Readonly<Record<string, string>>
  /** Gets every line that the Worker or wrangler prints. */
  readonly onLine: (line: string) => void
  /** Stops the Worker, also one that does not answer yet. */
  readonly signal: AbortSignal
}

/** The Worker in a workerd on this machine. */
export interface LocalWorker {
  readonly url: string
  /** Leader of the group of processes: wrangler, and workerd below it. */
  readonly pid: number
  /** Settles when the leader has ended, however it did. */
  readonly exit: Promise<void>
  /** Lets it end by itself, then makes sure of the whole group. */
  stop(): Promise<void>
}

const START_MS = 120_000
const STOP_MS = 5000
/** Of the output, for the error. */
const KEPT_LINES = 100
const running = new Set<number>()

// Whatever ends this process ends the groups that it has started.
process.once('exit', () => running.forEach(killGroup))

/**
 * Starts `wrangler dev` without a person and without a network, and waits until it answers.
 * @throws {Error} with its output when it ends before that. What `signal` aborts with.
 */
export async function startLocalWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  const { signal } = options
  signal.throwIfAborted()
  const child = spawn(process.execPath, argumentsOf(options), {
    // wrangler builds below its working directory.
    cwd: options.folder,
    env: environmentOf(options.folder),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const { pid } = child
  if (pid === undefined) throw new Error('wrangler could not be started')
  running.add(pid)
  const exit = once(child, 'exit').then(() => endGroup(pid))
  const stop = async (): Promise<void> => {
    if (running.has(pid)) child.kill('SIGINT')
    await Promise.race([exit, sleep(STOP_MS, undefined, { ref: false })])
    endGroup(pid)
  }
  const onAbort = (): void => void stop()
  signal.addEventListener('abort', onAbort)
  void exit.finally(() => signal.removeEventListener('abort', onAbort))
  const lines: string[] = []
  const ready = Promise.withResolvers<string | undefined>()
  const read = (line: string): void => {
    lines.push(line)
    lines.splice(0, lines.length - KEPT_LINES)
    options.onLine(line)
    const url = /Ready on (?<url>http:\S+)/.exec(line)?.groups?.url
    if (url !== undefined) ready.resolve(url)
    // wrangler would wait for the sources to change.
    if (line.includes('Build failed')) ready.resolve(undefined)
  }
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', read)
  const late = sleep(START_MS, undefined, { ref: false })
  const url = await Promise.race([ready.promise, exit, late])
  if (typeof url === 'string') return { url, pid, exit, stop }
  await stop()
  signal.throwIfAborted()
  throw new Error(`the Worker did not start:\n${lines.join('\n')}`)
}

function argumentsOf({ entry, folder, port, vars }: LocalWorkerOptions): string[] {
  const require = createRequire(import.meta.url)
  return [
    join(require.resolve('wrangler/package.json'), '../bin/wrangler.js'),
    'dev',
    join(import.meta.dirname, entry),
    `--config=${join(import.meta.dirname, 'wrangler.jsonc')}`,
    '--local',
    '--show-interactive-dev-session=false',
    '--ip=127.0.0.1',
    `--port=${port}`,
    '--inspector-port=0',
    `--persist-to=${folder}`,
    ...Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
  ]
}

/** Nothing is asked, sent or looked up, and settings of the user are left alone. */
function environmentOf(folder: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    CI: '1',
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_SEND_ERROR_REPORTS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_WRITE_LOGS: 'false',
    WRANGLER_NO_SKILLS_UPDATE_PROMPTS: '1',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    // Bundles the packages of this repository from source; published ones do not need it.
    WRANGLER_BUILD_CONDITIONS: '@helix-agents/source,workerd,worker,browser',
    XDG_CONFIG_HOME: folder,
    // What a SIGKILL leaves is removed with the folder.
    TMPDIR: folder,
  }
}

function endGroup(pid: number): void {
  if (running.delete(pid)) killGroup(pid)
}

/**
 * SIGKILL to wrangler and workerd of a folder, as a crash of the machine. The id may come from
 * a file that outlived its process: it is used only while that process is still the one.
 * @throws {Error} when another process, or none, has the id.
 */
export function killWorkerOf(folder: string, pid: number): void {
  const isOne = Number.isSafeInteger(pid) && pid > 1 && existsSync(`/proc/${pid}/cmdline`)
  const words = isOne ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') : []
  if (!words.includes(`--persist-to=${folder}`)) {
    throw new Error(`process ${pid} is not the Worker of ${folder}; it was left alone`)
  }
  killGroup(pid)
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
