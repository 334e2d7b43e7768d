import type { Command } from 'just-bash'
import { bytesOfLatin1, latin1Of } from '../byte-strings.ts'
import type { ScriptHost } from '../script.ts'

/** A command that the host runs. Its errors are results: a script goes on after them. */
export function hostCommand(name: string, host: ScriptHost): Command {
  return {
    name,
    execute: async (args, { stdin, cwd, exportedEnv }) => {
      const {
        stdout = '',
        stderr = '',
        exitCode = 0,
      } = await host.runCommand({
        name,
        args: [...args],
        // oxlint-disable-next-line typescript/no-base-to-string -- the type is opaque: a string of bytes
        stdin: bytesOfLatin1(String(stdin)),
        cwd,
        env: { ...exportedEnv },
      })
      if (typeof stdout === 'string') return { stdout, stderr, exitCode, stdoutKind: 'text' }
      return { stdout: latin1Of(stdout), stderr, exitCode, stdoutKind: 'bytes' }
    },
  }
}
