import { dirname } from 'node:path'
import type { Variables } from '../environment.ts'
import { exportLines, isIdentifier, shellQuote } from './shell-quote.ts'

/** The number of the pipe on which a session shell reports. */
export const REPORT_FD = 3

/** Where the output of one command goes. */
export interface OutputFiles {
  readonly stdout: string
  readonly stderr: string
  /** Appears with the exit code in it; only commands in the background have it. */
  readonly exitCode: string
}

/** What a command brings along. */
export interface CommandSettings {
  readonly cwd?: string | undefined
  readonly env?: Variables | undefined
}

/** One command on its way to a session shell. */
export interface ScriptedCommand extends CommandSettings {
  readonly number: number
  readonly command: string
  readonly files: OutputFiles
}

/**
 * A command in the shell itself, so that what it sets stays. The text goes in as it is: an open
 * quote swallows everything after it, `exit` ends the shell, and a command that removes the folder of
 * its output never seems to end, as its exit code would lie there.
 */
export function foregroundScript(scripted: ScriptedCommand): string {
  const { command, cwd, files, number } = scripted
  const variables = Object.entries(scripted.env ?? {}).filter(([name]) => isIdentifier(name))
  const done = `builtin printf 'done %s %s\\n' ${number} "$__sandbox_code" >&${REPORT_FD}`
  return [
    ...variables.map(([name]) => saveLine(name)),
    ...exportLines(scripted.env ?? {}),
    ...(cwd === undefined
      ? [...block(command, files), '__sandbox_code=$?']
      : insideDirectory(cwd, command, files)),
    ...variables.map(([name]) => restoreLine(name)),
    `[ ! -d ${shellQuote(dirname(files.stdout))} ] || ${done}`,
    '',
  ].join('\n')
}

/**
 * A command beside the shell, in a subshell: `exit` ends that one before it can write its exit
 * code, so the command never seems to end.
 */
export function backgroundScript(scripted: ScriptedCommand): string {
  const { command, cwd, files, number } = scripted
  return [
    '{',
    ...exportLines(scripted.env ?? {}),
    ...(cwd === undefined ? [] : [enterOrGiveUp(cwd, files)]),
    ...block(command, files),
    `builtin printf '%s' "$?" >${shellQuote(files.exitCode)}`,
    `} ${REPORT_FD}>&- &`,
    `builtin printf 'started %s %s\\n' ${number} "$!" >&${REPORT_FD}`,
    '',
  ].join('\n')
}

function block(command: string, files: OutputFiles): string[] {
  const redirected = `>${shellQuote(files.stdout)} 2>${shellQuote(files.stderr)}`
  return ['{ builtin :', command, `} </dev/null ${redirected} ${REPORT_FD}>&-`]
}

function insideDirectory(directory: string, command: string, files: OutputFiles): string[] {
  return [
    '__sandbox_directory="$PWD"',
    `if builtin cd -- ${shellQuote(directory)} 2>/dev/null; then`,
    ...block(command, files),
    '__sandbox_code=$?',
    'builtin cd -- "$__sandbox_directory" 2>/dev/null',
    'else',
    failedDirectory(directory, files),
    '__sandbox_code=1',
    'fi',
  ]
}

function enterOrGiveUp(directory: string, files: OutputFiles): string {
  const giveUp = `builtin printf 1 >${shellQuote(files.exitCode)}; exit 1`
  const enter = `builtin cd -- ${shellQuote(directory)} 2>/dev/null`
  return `${enter} || { ${failedDirectory(directory, files)}; ${giveUp}; }`
}

function failedDirectory(directory: string, files: OutputFiles): string {
  const notice = `cannot change directory to ${directory}`
  return `builtin printf '%s\\n' ${shellQuote(notice)} >${shellQuote(files.stderr)}`
}

function saveLine(name: string): string {
  return `__sandbox_had_${name}=\${${name}+x} __sandbox_old_${name}=\${${name}-}`
}

function restoreLine(name: string): string {
  const put = `export ${name}="$__sandbox_old_${name}"`
  return `if [ -n "$__sandbox_had_${name}" ]; then ${put}; else unset ${name}; fi`
}
