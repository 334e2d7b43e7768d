import type { Command, CommandNode, ScriptNode, StatementNode, WordNode } from 'just-bash'

type Redirection = CommandNode['redirections'][number]

const GUARD = 'helix-can-write'
const WRITES = new Set(['>', '>>', '>|', '&>', '&>>'])
/** Parts of a word that can be expanded twice without an effect. */
const HARMLESS = new Set([
  'Literal',
  'SingleQuoted',
  'DoubleQuoted',
  'Escaped',
  'ParameterExpansion',
])

/**
 * A file that cannot be made ends a whole script of just-bash, where a shell only fails the command.
 * Puts a check in front of each command that writes to a path of another directory.
 */
export function guardRedirections(ast: ScriptNode): void {
  guardAll(ast.statements)
}

function guardAll(statements: readonly StatementNode[] | null): void {
  for (const { pipelines } of statements ?? []) {
    for (const { commands } of pipelines) {
      for (const [index, command] of commands.entries()) commands[index] = guarded(command)
    }
  }
}

function guarded(command: CommandNode): CommandNode {
  for (const statements of bodiesOf(command)) guardAll(statements)
  const targets = command.type === 'FunctionDef' ? [] : command.redirections.flatMap(targetOf)
  if (targets.length === 0) return command
  const check: CommandNode = {
    type: 'SimpleCommand',
    assignments: [],
    name: literal(GUARD),
    args: targets,
    redirections: [],
  }
  const pipelines = [check, command].map((one) => ({
    type: 'Pipeline' as const,
    commands: [one],
    negated: false,
  }))
  const body = {
    type: 'Statement' as const,
    pipelines,
    operators: ['&&' as const],
    background: false,
  }
  return { type: 'Group', body: [body], redirections: [] }
}

function bodiesOf(command: CommandNode): readonly (readonly StatementNode[] | null)[] {
  if (command.type === 'FunctionDef') return bodiesOf(command.body)
  if (command.type === 'If') {
    const { clauses, elseBody } = command
    return [...clauses.flatMap(({ condition, body }) => [condition, body]), elseBody]
  }
  if (command.type === 'Case') return command.items.map(({ body }) => body)
  return 'body' in command ? [command.body] : []
}

/** The path, unless it is one of the working directory, which is there. */
function targetOf({ operator, target }: Redirection): WordNode[] {
  if (!WRITES.has(operator) || target.type !== 'Word') return []
  const isPlain = target.parts.every((part) => part.type === 'Literal' && !part.value.includes('/'))
  return isPlain || !target.parts.every(isHarmless) ? [] : [target]
}

function isHarmless(part: WordNode['parts'][number]): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(isHarmless)
  if (part.type === 'ParameterExpansion') return part.operation === null
  return HARMLESS.has(part.type)
}

function literal(value: string): WordNode {
  return { type: 'Word', parts: [{ type: 'Literal', value }] }
}

/** Fails as a redirection does when the directory of a path is missing. */
export const guardCommand: Command = {
  name: GUARD,
  execute: async (paths, { fs, cwd }) => {
    for (const path of paths) {
      const parent = fs.resolvePath(cwd, `${path}/..`)
      const problem = await problemWith(() => fs.stat(parent))
      const stderr = `bash: ${path}: ${problem}\n`
      if (problem !== undefined) return { stdout: '', stderr, exitCode: 1 }
    }
    return { stdout: '', stderr: '', exitCode: 0 }
  },
}

async function problemWith(
  stat: () => Promise<{ readonly isDirectory: boolean }>,
): Promise<string | undefined> {
  try {
    return (await stat()).isDirectory ? undefined : 'Not a directory'
  } catch (error) {
    return String(error).includes('ENOTDIR') ? 'Not a directory' : 'No such file or directory'
  }
}
