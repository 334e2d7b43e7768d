import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { parseCount, parseDuration } from '../../input/option-parsers.ts'
import type { CommandContext } from '../command-context.ts'
import { type HealthServer, serveHealth } from './health-server.ts'

interface WorkerFlags {
  readonly port?: number
  readonly drain: number
}

/** What `openWorker` of a module gives: a worker of `@helix-agents/worker-postgres`. */
export interface RunnableWorker {
  start(): Promise<void>
  stop(options: { readonly timeoutMs: number }): Promise<void>
  health(): { readonly state: string; readonly machine: string; readonly concurrency: number }
  /** In the text format of Prometheus. */
  metrics?(): string
}

interface OpenedWorker {
  readonly worker: RunnableWorker
  /** Closes stores and queue, once the worker has stopped. */
  readonly close?: () => Promise<void>
}

const HELP = `
The module exports openWorker(), which makes a worker and what closes behind it:

  export async function openWorker() {
    return { worker: createWorker(executor, { queue, stateStore, agents }), close: () => queue.close() }
  }

SIGTERM or SIGINT drains: no more turns, runs stop where another worker resumes them. A second signal
ends the process at once.

Exit codes: 0 drained · 2 usage · 3 no such module, or no database · 70 failure

Examples:
  helix worker worker.ts
  helix worker worker.ts --port 8080      GET /healthz for a load balancer, GET /metrics for Prometheus
  helix worker worker.ts --drain 25s      below the time that the platform gives`

/** `helix worker`: runs turns of a queue until it is asked to end. */
export function registerWorker(parent: Command, context: CommandContext): void {
  parent
    .command('worker')
    .argument('<module>', 'JavaScript or TypeScript file that exports openWorker')
    .summary('run turns of a queue on this machine')
    .description('Runs turns of a queue, and takes over the sessions of machines that died.')
    .addOption(
      new Option('--port <number>', 'serve the health of the worker').argParser(
        parseCount(0, 65_535),
      ),
    )
    .addOption(
      new Option('--drain <duration>', 'time for steps under way')
        .default(20_000, '20s')
        .argParser(parseDuration),
    )
    .addHelpText('after', HELP)
    .action(async (file: string, flags: WorkerFlags) => runWorker(file, flags, context))
}

async function runWorker(file: string, flags: WorkerFlags, context: CommandContext): Promise<void> {
  const { host, output } = context
  // From now on: a signal while the worker starts drains it too.
  const signalled = host.untilSignal()
  const { worker, close } = await open(file, context)
  let server: HealthServer | undefined
  try {
    await worker.start()
    const { machine, concurrency } = worker.health()
    if (flags.port !== undefined) server = await serveHealth(flags.port, worker)
    const place = server === undefined ? '' : `, health on port ${server.port}`
    output.note(`worker on ${machine}, ${concurrency} turns at a time${place}`)
    const signal = await signalled
    output.note(`${signal}: draining`)
    await worker.stop({ timeoutMs: flags.drain })
    output.note('drained')
  } finally {
    await server?.close()
    await close?.()
  }
}

async function open(file: string, { host }: CommandContext): Promise<OpenedWorker> {
  const path = resolve(file)
  if (!existsSync(path)) throw new CommandError(exitCodes.unreachable, `there is no file ${file}`)
  const { openWorker } = await host.importModule(path)
  if (typeof openWorker !== 'function') {
    throw new CommandError(exitCodes.usage, `${file} does not export a function openWorker`)
  }
  const opened: unknown = await openWorker()
  if (isOpened(opened)) return opened
  throw new CommandError(exitCodes.usage, `openWorker of ${file} must give { worker, close }`)
}

function isOpened(value: unknown): value is OpenedWorker {
  if (typeof value !== 'object' || value === null || !('worker' in value)) return false
  const { worker } = value
  return typeof worker === 'object' && worker !== null && 'start' in worker && 'stop' in worker
}
