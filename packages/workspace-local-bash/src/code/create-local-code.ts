import type { SubprocessShell, SubprocessShellOptions } from '../subprocess-shell.ts'
import { findInterpreters } from './languages.ts'
import { LocalCodeInterpreter } from './local-code-interpreter.ts'

/**
 * The code of a workspace, with the environment and the bounds of its commands.
 * @param languages What the agent declares; undefined for all that the machine has.
 * @throws {WorkspaceFailedError} `capability-missing` for a declared language without a program, or
 * with one that is too old.
 */
export async function createLocalCode(
  shell: SubprocessShell,
  options: SubprocessShellOptions,
  languages: readonly string[] | undefined,
): Promise<LocalCodeInterpreter> {
  const { clock, defaultTimeoutMs, env, gate, killGraceMs, launcher, logger } = options
  return new LocalCodeInterpreter({
    interpreters: await findInterpreters(languages, env.PATH ?? '', launcher.sees),
    start: (words, sinks) => shell.startChannelProcess(words, sinks),
    inTurn: (run, signal) => gate.run(run, signal),
    defaultTimeoutMs,
    maxOutputBytes: options.maxOutputBytes,
    killGraceMs,
    clock,
    logger,
  })
}
