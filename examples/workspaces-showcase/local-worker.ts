import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessGroup, superviseGroup } from './process-group.ts'

export interface LocalWorkerOptions {
  /** The module of the Worker, beside this file or below. */
  readonly entry: string
  /** Holds what the Worker stores; outlives it. */
  readonly folder: string
  /** 0 for any that is free. */
  readonly port: number
  /** Variables of the Worker. */
  readonly vars: Readonly<Record<string, string>>
  /** A file of further variables, which may be secret: no other process sees it. */
  readonly envFile?: string
  /** Gets every line that the Worker or wrangler prints. */
  readonly onLine: (line: string) => void
}

/** The Worker in a workerd on this machine; the leader is what has started workerd. */
export interface LocalWorker extends ProcessGroup {
  readonly url: string
}

const START_MS = 120_000
/** Of the output, for the error. */
const KEPT_LINES = 100

/**
 * Starts `wrangler dev` without a person and without a network, and waits until it answers.
 * @throws {Error} with its output when it ends before that.
 */
export async function startLocalWorker(options: LocalWorkerOptions): Promise<LocalWorker> {
  const child = spawn(process.execPath, argumentsOf(options), {
    // wrangler builds below its working directory.
    cwd: options.folder,
    env: environmentOf(options.folder),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const group = superviseGroup(child)
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
  const url = await Promise.race([ready.promise, group.exit, late])
  if (typeof url === 'string') return { url, ...group }
  await group.stop()
  throw new Error(`the Worker did not start:\n${lines.join('\n')}`)
}

function argumentsOf({ entry, folder, port, vars, envFile }: LocalWorkerOptions): string[] {
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
    ...(envFile === undefined ? [] : [`--env-file=${envFile}`]),
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
