import { constants } from 'node:os'
import { pathToFileURL } from 'node:url'
import { systemClock } from '@helix-agents/core'
import type { CliHost } from './cli-host.ts'
import { openLedgerDatabase } from './commands/fleet/client/open-ledger.ts'
import { openSessionDatabase } from './commands/sessions/open-database.ts'
import { openSnapshots } from './commands/snapshots/store/open-snapshots.ts'
import { exitCodes } from './exit-codes.ts'
import { createTextInput } from './text-input.ts'

/**
 * The machine of this process. A reader that goes away (`helix … | head -1`) is no error: what is
 * left of the output is dropped.
 */
export function createNodeHost(): CliHost {
  let isOutputClosed = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    isOutputClosed = true
    if (error.code === 'EPIPE') return
    process.exitCode = exitCodes.failure
    process.stderr.write(`helix: the output cannot be written: ${error.message}\n`)
  })
  // There is no further output for errors.
  process.stderr.on('error', () => undefined)
  return {
    stdin: createTextInput(() => process.stdin),
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    clock: systemClock,
    fetch: globalThis.fetch,
    openSessions: openSessionDatabase,
    openLedger: openLedgerDatabase,
    openSnapshots: (place, { canCreate }) =>
      openSnapshots(place, { canCreate, env: process.env, fetch: globalThis.fetch }),
    createProject,
    importModule: (path) => import(pathToFileURL(path).href),
    untilSignal,
    isOutputClosed: () => isOutputClosed,
  }
}

/** Loaded when it is asked for: the other commands need none of it. */
async function createProject(args: readonly string[]): Promise<number> {
  const { interruptSignal, runCreate } = await import('create-helix-agents')
  const { stdin, stdout, stderr, env } = process
  const signal = interruptSignal()
  return runCreate(args, { stdin, stdout, stderr, env, signal, program: 'helix init' })
}

function untilSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let isAsked = false
  const onSignal = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (isAsked) process.exit(128 + constants.signals[signal])
    isAsked = true
    resolve(signal)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return promise
}
