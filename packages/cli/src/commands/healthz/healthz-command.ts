import { type Command, Option } from 'commander'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { parseCount, parseDuration } from '../../input/option-parsers.ts'
import { toTimeText } from '../../output/duration-text.ts'
import { type CommandContext, JSON_OPTION } from '../command-context.ts'
import { type HealthProbe, type HealthTarget, probe } from './probe.ts'
import { printProbe } from './print-probe.ts'
import { parseTarget } from './target.ts'

interface HealthzFlags {
  readonly session?: string
  readonly tokenEnv?: string
  readonly timeout: number
  readonly watch?: number
  readonly json?: boolean
}

const MAX_WATCH_SECONDS = 86_400

const HELP = `
The address is that of a route that answers { workspaces: registry.describe() }.
Signals: a workspace that is failed for over 5 minutes, that is used without success for over
2 minutes, or that is evicted for over 10 minutes.

Exit codes: 0 no signals · 1 signals · 2 usage · 3 no answer, no active run, not this endpoint

Examples:
  helix healthz http://localhost:8787/healthz/6f1c
  helix healthz https://agents.example.com/healthz --session 6f1c --token-env HELIX_TOKEN
  helix healthz http://localhost:8787/healthz/6f1c --watch 5
  helix healthz http://localhost:8787/healthz/6f1c --json | jq .signals`

/** `helix healthz`: the workspaces of a running session. */
export function registerHealthz(parent: Command, context: CommandContext): void {
  parent
    .command('healthz')
    .summary('ask a server how the workspaces of a session are')
    .description('Shows the health of the workspaces of a session, from its health endpoint.')
    .argument('<url>', 'address of the health endpoint')
    .option('--session <id>', 'session to append to the address')
    .option('--token-env <name>', 'environment variable that holds the bearer token')
    .addOption(timeoutOption())
    .option(
      '--watch <seconds>',
      'repeat at this interval; with --json one line each',
      parseCount(1, MAX_WATCH_SECONDS),
    )
    .option(...JSON_OPTION)
    .addHelpText('after', HELP)
    .action(async (url: string, flags: HealthzFlags) => healthz(url, flags, context))
}

function timeoutOption(): Option {
  const option = new Option('--timeout <duration>', 'how long to wait for the answer')
  return option.default(10_000, '10s').argParser(parseDuration)
}

async function healthz(url: string, flags: HealthzFlags, context: CommandContext): Promise<void> {
  const target = parseTarget(url, flags, context.host.env)
  if (flags.watch !== undefined) return watch(target, flags, context)
  const found = await probe(context.host, target)
  context.setExitCode(exitCodeOf(found))
  if (found.kind === 'unreachable') {
    throw new CommandError(exitCodes.unreachable, `${placeOf(target)}: ${found.reason}`)
  }
  if (flags.json === true) context.output.json(toJson(target, found))
  else printProbe(found, context.output)
}

/** Until it is interrupted or its output is closed. */
async function watch(
  target: HealthTarget,
  flags: HealthzFlags,
  { host, output, setExitCode }: CommandContext,
): Promise<void> {
  const pauseMs = (flags.watch ?? 0) * 1000
  while (!output.isClosed) {
    const at = host.clock.now()
    const found = await probe(host, target)
    setExitCode(exitCodeOf(found))
    if (flags.json === true) output.json({ at, ...toJson(target, found) }, { isCompact: true })
    else {
      output.heading(toTimeText(at))
      printProbe(found, output)
    }
    if (!output.isClosed) await host.clock.sleep(pauseMs)
  }
}

function exitCodeOf(found: HealthProbe): number {
  if (found.kind === 'unreachable') return exitCodes.unreachable
  return found.signals.length > 0 ? exitCodes.findings : exitCodes.ok
}

function toJson({ sessionId }: HealthTarget, found: HealthProbe) {
  if (found.kind === 'unreachable') return { sessionId, unreachable: found.reason }
  const { signals, workspaces } = found
  return { sessionId, healthy: signals.length === 0, signals, workspaces }
}

/** Without the query, which may hold a secret. */
function placeOf({ url }: HealthTarget): string {
  return `${url.origin}${url.pathname}`
}
