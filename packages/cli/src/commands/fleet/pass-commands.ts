import type { Command } from 'commander'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { CommandContext } from '../command-context.ts'
import { type PassAnswer, passSchema } from './client/fleet-answers.ts'
import type { FleetClient } from './client/fleet-client.ts'
import { addServerOptions } from './client/fleet-options.ts'
import { connect, type FleetFlags } from './client/open-fleet.ts'
import { exitCodeOf, printPass } from './print-pass.ts'

interface PassFlags extends FleetFlags {
  readonly dryRun?: boolean
  readonly json?: boolean
}

interface EmergencyFlags extends PassFlags {
  readonly yes?: boolean
}

type PassName = 'cleanup' | 'cleanup/emergency' | 'reconcile'

const EXIT_CODES = `
Exit codes: 0 all done and confirmed · 1 partial: something is owed or unknown, a limit was reached,
another sweeper works, a list was rejected · 2 usage · 3 no answer`

const CLEANUP_HELP = `${EXIT_CODES}

Examples:
  helix fleet cleanup --dry-run
  */5 * * * *  helix fleet cleanup --token-file /etc/helix/token   in a crontab`

const EMERGENCY_HELP = `
Without --yes it shows what it would end and asks for "yes".
${EXIT_CODES}

Examples:
  helix fleet emergency --dry-run
  helix fleet emergency --yes`

const RECONCILE_HELP = `${EXIT_CODES}

Examples:
  helix fleet reconcile --dry-run
  helix fleet reconcile --json | jq .items`

/** `helix fleet cleanup`, `emergency` and `reconcile`. */
export function registerPasses(parent: Command, context: CommandContext): void {
  addServerOptions(parent.command('cleanup'))
    .summary('one pass of cleanup: ends what is stuck, retries what is owed')
    .description('Runs one pass of cleanup: ends what is stuck, and retries owed destroys.')
    .option('--dry-run', 'only show what it would do')
    .addHelpText('after', CLEANUP_HELP)
    .action(async (flags: PassFlags) => runPass('cleanup', flags, context))
  addServerOptions(parent.command('emergency'))
    .summary('end everything that is not critical, in use or not')
    .description('Ends every sandbox that is not critical, in use or not.')
    .option('--dry-run', 'only show what it would do')
    .option('--yes', 'skip the confirmation')
    .addHelpText('after', EMERGENCY_HELP)
    .action(async (flags: EmergencyFlags) => runEmergency(flags, context))
  addServerOptions(parent.command('reconcile'))
    .summary('compare the ledger with what the providers have')
    .description('Compares the ledger with the providers and reconciles the two.')
    .option('--dry-run', 'only show what it would do')
    .addHelpText('after', RECONCILE_HELP)
    .action(async (flags: PassFlags) => runPass('reconcile', flags, context))
}

async function runPass(name: PassName, flags: PassFlags, context: CommandContext): Promise<void> {
  const fleet = await connect(context.host, flags)
  printReport(await ask(fleet, name, flags.dryRun === true), flags, context)
}

async function runEmergency(flags: EmergencyFlags, context: CommandContext): Promise<void> {
  const isDryRun = flags.dryRun === true
  if (!isDryRun && flags.yes !== true) requirePerson(flags, context)
  const fleet = await connect(context.host, flags)
  if (!isDryRun && flags.yes !== true) {
    const plan = await ask(fleet, 'cleanup/emergency', true)
    printPass(plan, context.output)
    // With nothing to end there is nothing to confirm.
    if (plan.items.length === 0) return context.setExitCode(exitCodeOf(plan))
    if (!(await isConfirmed(plan, context))) {
      context.output.note('nothing was done')
      return context.setExitCode(exitCodes.findings)
    }
  }
  printReport(await ask(fleet, 'cleanup/emergency', isDryRun), flags, context)
}

function requirePerson(flags: EmergencyFlags, { host }: CommandContext): void {
  if (host.stdin.isTTY === true && flags.tokenFile !== '-') return
  throw new CommandError(
    exitCodes.usage,
    'stdin is no terminal to confirm at: give --yes, or --dry-run',
  )
}

/** Takes nothing but a whole `yes`. */
async function isConfirmed({ items }: PassAnswer, { host }: CommandContext): Promise<boolean> {
  host.stderr.write(`End ${items.length} sandboxes, in use or not? Type yes: `)
  return (await host.stdin.readLine()).trim() === 'yes'
}

async function ask(fleet: FleetClient, name: PassName, isDryRun: boolean): Promise<PassAnswer> {
  const query = { dry_run: isDryRun ? 'true' : undefined }
  const call = { method: 'POST', path: `/api/sandbox/${name}`, query } as const
  return (await fleet.call(call, passSchema)).body
}

function printReport(
  pass: PassAnswer,
  flags: PassFlags,
  { output, setExitCode }: CommandContext,
): void {
  setExitCode(exitCodeOf(pass))
  if (flags.json === true) output.json(pass)
  else printPass(pass, output)
}
