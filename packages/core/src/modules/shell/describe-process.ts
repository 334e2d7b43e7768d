import type { BackgroundProcess } from './contract.ts'

const SHOWN_COMMAND_CHARACTERS = 200

/** One line for the model. */
export function describeProcess(process: BackgroundProcess): string {
  const state = process.state === 'running' ? 'running' : `exit code ${process.exitCode ?? '?'}`
  const command = JSON.stringify(process.command.slice(0, SHOWN_COMMAND_CHARACTERS))
  return `${process.id} ${state}: ${command}`
}
