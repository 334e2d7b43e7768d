import type { Command, CommandNode, StatementNode, TransformPlugin, WordNode } from 'just-bash'
import type { ScriptHost } from '../../script.ts'

const TURN = 'helix-turn'
const LOOPS = new Set(['For', 'CStyleFor', 'While', 'Until'])

/**
 * Builtins of the shell wait for nothing, so a loop of them holds the thread until its last step.
 * Puts a command that lets timers run in front of each round of a loop and each call of a function.
 */
export const addTurns: TransformPlugin = {
  name: 'helix-turns',
  transform: ({ ast }) => {
    enter(ast)
    return { ast }
  },
}

/** Ends with the exit code that it is given, so that `$?` stays what it was. */
export function turnCommand(host: ScriptHost): Command {
  return {
    name: TURN,
    execute: async ([status]) => {
      await host.turn()
      return { stdout: '', stderr: '', exitCode: Number(status) }
    },
  }
}

/** Loops stand in any place: in substitutions, in arithmetic, in the bodies of functions. */
function enter(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  // Before its own loop gets a turn, which has nothing to enter.
  for (const child of Object.values(node)) enter(child)
  if (isLoop(node)) node.body.unshift(turn())
  else if (isFunction(node) && node.body.type === 'Group') node.body.body.unshift(turn())
}

function isLoop(node: object): node is Extract<CommandNode, { type: 'For' | 'While' }> {
  const isOne = 'type' in node && typeof node.type === 'string' && LOOPS.has(node.type)
  return isOne && 'body' in node && Array.isArray(node.body)
}

function isFunction(node: object): node is Extract<CommandNode, { type: 'FunctionDef' }> {
  return 'type' in node && node.type === 'FunctionDef'
}

/** `helix-turn "$?" && :`: a failure in front of `&&` ends no script. */
function turn(): StatementNode {
  const commands: CommandNode[] = [simple(TURN, [parameter('?')]), simple(':', [])]
  const pipelines = commands.map((command) => ({
    type: 'Pipeline' as const,
    commands: [command],
    negated: false,
  }))
  return { type: 'Statement', pipelines, operators: ['&&'], background: false }
}

function simple(name: string, args: WordNode[]): CommandNode {
  const word: WordNode = { type: 'Word', parts: [{ type: 'Literal', value: name }] }
  return { type: 'SimpleCommand', assignments: [], name: word, args, redirections: [] }
}

function parameter(name: string): WordNode {
  return {
    type: 'Word',
    parts: [{ type: 'ParameterExpansion', parameter: name, operation: null }],
  }
}
