const NO_PACKAGES = 'nothing can be installed; use the commands that `help` lists'
const NO_RUNTIME =
  'no program runs here; use the code tools of the workspace if there are some, else awk, sed and jq'
const NO_NETWORK = 'this shell has no network'
const NO_PROCESSES = 'there are no processes here'
const NO_EDITOR = 'nobody can type here; change the file with sed or with the file tools'

/** Programs that models use, and what to do instead. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['git', 'no git here; compare files with diff, and keep copies of what you may need again'],
  ...each('apt apt-get apk yum brew pip pip3 npm npx pnpm yarn', NO_PACKAGES),
  ...each('python python3 node deno bun perl ruby php java go', NO_RUNTIME),
  ...each('gcc cc make cargo docker', NO_RUNTIME),
  ...each('curl wget ssh scp rsync ping nc', NO_NETWORK),
  ...each('ps top pgrep pkill nohup setsid systemctl', NO_PROCESSES),
  ...each('vi vim nano emacs', NO_EDITOR),
  ...each('sudo su', 'there is only one user here; run the command without it'),
])

const NOT_FOUND = /^bash: (?:line \d+: )?(\S+): command not found$/gm

/** Adds to each missing program what can be done instead. */
export function explainAbsent(stderr: string): string {
  return stderr.replace(NOT_FOUND, (line, name: string) => {
    const instead = INSTEAD.get(name)
    return instead === undefined ? line : `${line} (${instead})`
  })
}

function each(names: string, instead: string): [string, string][] {
  return names.split(' ').map((name) => [name, instead])
}
