import type {
  CommandNode,
  PipelineNode,
  ScriptNode,
  SimpleCommandNode,
  StatementNode,
  TransformPlugin,
} from 'just-bash'
import { guardRedirections } from './guard-redirections.ts'

type RedirectionNode = CommandNode['redirections'][number]
type CompoundCommandNode = Exclude<CommandNode, { type: 'FunctionDef' | 'SimpleCommand' }>

/** Files to which both outputs of a script are appended while it runs. */
export interface OutputSinks {
  readonly stdout: string
  readonly stderr: string
}

/** Commands that write nothing and change what runs next. */
const CONTROL = new Set([
  ':',
  'break',
  'continue',
  'exit',
  'export',
  'local',
  'return',
  'set',
  'shift',
])
/** What `exec >file` redirects stays redirected: sinks of the commands behind it would undo that. */
const REDIRECTS_ITSELF = /(?:^|[^\w-])exec\b/

/**
 * just-bash returns the outputs of a script when it has ended. This appends what each command writes
 * to files instead, in the order of the script, so that output is seen as it comes and a script that
 * is ended has lost none. Bodies of loops and conditions are entered; pipelines, functions and what
 * has redirections of its own write when they end.
 */
export function streamOutputs(sinks: OutputSinks, source: string): TransformPlugin {
  let isScript = true
  return {
    name: 'helix-outputs',
    transform: ({ ast }) => {
      guardRedirections(ast)
      // What a command such as xargs runs comes here as well, and its output is the command's.
      if (isScript && !REDIRECTS_ITSELF.test(source)) new OutputStreamer(sinks).enterScript(ast)
      isScript = false
      return { ast }
    },
  }
}

class OutputStreamer {
  readonly #sinks: OutputSinks

  constructor(sinks: OutputSinks) {
    this.#sinks = sinks
  }

  enterScript(ast: ScriptNode): void {
    this.#enter(ast.statements)
  }

  #enter(statements: readonly StatementNode[] | null): void {
    for (const { pipelines } of statements ?? []) {
      for (const pipeline of pipelines) this.#redirectPipeline(pipeline)
    }
  }

  #redirectPipeline({ commands, pipeStderr = [] }: PipelineNode): void {
    const last = commands.at(-1)
    if (last === undefined) return
    if (commands.length === 1) return this.#redirectCommand(last)
    for (const [index, command] of commands.entries()) {
      const isPiped = pipeStderr[index] === true && command !== last
      this.#append(command, { stdout: command === last, stderr: !isPiped })
    }
  }

  #redirectCommand(command: CommandNode): void {
    if (command.type === 'FunctionDef') return
    if (command.type === 'SimpleCommand') {
      if (writes(command)) this.#append(command, { stdout: true, stderr: true })
      return
    }
    if (command.redirections.length > 0) this.#append(command, { stdout: true, stderr: true })
    else this.#enterBodies(command)
  }

  #enterBodies(command: CompoundCommandNode): void {
    if (command.type === 'If') this.#enterIf(command)
    if (command.type === 'Case') for (const { body } of command.items) this.#enter(body)
    if ('condition' in command && Array.isArray(command.condition)) this.#enter(command.condition)
    if ('body' in command) this.#enter(command.body)
  }

  #enterIf({ clauses, elseBody }: Extract<CommandNode, { type: 'If' }>): void {
    for (const { condition, body } of clauses) {
      this.#enter(condition)
      this.#enter(body)
    }
    this.#enter(elseBody)
  }

  /** In front of the command's own redirections, which come after it and so hold. */
  #append(command: CommandNode, outputs: { stdout: boolean; stderr: boolean }): void {
    const added = [
      ...(outputs.stdout ? [redirection(1, this.#sinks.stdout)] : []),
      ...(outputs.stderr ? [redirection(2, this.#sinks.stderr)] : []),
    ]
    command.redirections = [...added, ...command.redirections]
  }
}

function writes({ name }: SimpleCommandNode): boolean {
  if (name === null) return false
  const [part] = name.parts
  return part?.type !== 'Literal' || !CONTROL.has(part.value)
}

function redirection(fd: number, path: string): RedirectionNode {
  const target = { type: 'Word', parts: [{ type: 'Literal', value: path }] } as const
  return {
    type: 'Redirection',
    fd,
    operator: '>>',
    target: { ...target, parts: [...target.parts] },
  }
}
