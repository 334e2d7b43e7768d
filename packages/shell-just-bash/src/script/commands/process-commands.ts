import type { Command } from 'just-bash'

/** Answers that are true of a shell without processes. */
export const processCommands: readonly Command[] = [
  answer('umask', '0022\n'),
  answer('nproc', '1\n'),
  answer('id', 'uid=1000(user) gid=1000(user) groups=1000(user)\n'),
  answer('jobs', ''),
  answer('sync', ''),
  answer('ulimit', 'unlimited\n'),
  answer('uname', 'Linux\n'),
  ignored('trap'),
  missing('mkfifo', 'there are no pipes with names here; write to a file'),
]

function answer(name: string, stdout: string): Command {
  return { name, execute: async () => ({ stdout, stderr: '', exitCode: 0 }) }
}

/** Nothing sends a signal here, and a script that only cleans up after itself goes on. */
function ignored(name: string): Command {
  return {
    name,
    execute: async (args) => {
      const isQuiet = args.length === 0 || args[0] === '' || args[0] === '-'
      const stderr = isQuiet ? '' : `bash: ${name}: not supported here; it was ignored\n`
      return { stdout: '', stderr, exitCode: 0 }
    },
  }
}

function missing(name: string, instead: string): Command {
  return {
    name,
    execute: async () => ({ stdout: '', stderr: `bash: ${name}: ${instead}\n`, exitCode: 1 }),
  }
}
