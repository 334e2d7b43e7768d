import { type Command, Option } from 'commander'
import { parseCount, parseDuration } from '../../../input/option-parsers.ts'
import { JSON_OPTION } from '../../command-context.ts'

const MAX_WATCH_SECONDS = 86_400

/** Options of every command that talks to a fleet. */
export function addServerOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the fleet (default: $HELIX_FLEET_URL)')
    .option(
      '--token-file <file>',
      'holds the admin token, - is stdin (default: $HELIX_FLEET_TOKEN)',
    )
    .addOption(timeoutOption())
    .option(...JSON_OPTION)
}

/** Options of commands that only look, for which a ledger will do. */
export function addReadOptions(command: Command): Command {
  return addServerOptions(command)
    .option(
      '--db <place>',
      'reads this ledger instead, without its providers: a SQLite file or a PostgreSQL URL',
    )
    .option('--environment <label>', 'deployment, with --db (default: that of the newest sandbox)')
    .option(
      '--watch <seconds>',
      'repeat at this interval; with --json one line each',
      parseCount(1, MAX_WATCH_SECONDS),
    )
}

/** A pass over many sandboxes takes its time. */
function timeoutOption(): Option {
  const option = new Option(
    '--timeout <duration>',
    'how long to wait for an answer, all its pages together',
  )
  return option.default(30_000, '30s').argParser(parseDuration)
}
