import { ToolInputError } from '@helix-agents/core'
import type {
  CodeContextId,
  CodeInterpreter,
  CodeOutput,
  RunCodeOptions,
  RunCodeResult,
} from '@helix-agents/core/provider'
import { type Context, createContext, runInContext } from 'node:vm'

/** JavaScript in a `node:vm` context: enough for the clauses, nothing for production. */
export function createCodeReference(isStateful: boolean): CodeInterpreter {
  const contexts = new Map<CodeContextId, Context>()
  const base: CodeInterpreter = {
    languages: ['javascript'],
    isStateful,
    runCode: async (language, code, options) => {
      check(language)
      return execute(createContext({}), code, options)
    },
  }
  if (!isStateful) return base
  const find = (id: CodeContextId): Context => {
    const context = contexts.get(id)
    if (context === undefined) throw new ToolInputError('invalid-input', 'unknown context')
    return context
  }
  return {
    ...base,
    createContext: async (language) => {
      check(language)
      const id = `context-${contexts.size + 1}` as CodeContextId
      contexts.set(id, createContext({}))
      return id
    },
    runInContext: async (id, code, options) => execute(find(id), code, options),
    deleteContext: async (id) => void contexts.delete(id),
  }
}

function check(language: string): void {
  if (language !== 'javascript') throw new ToolInputError('invalid-input', 'unknown language')
}

async function execute(
  context: Context,
  code: string,
  options: RunCodeOptions = {},
): Promise<RunCodeResult> {
  options.signal?.throwIfAborted()
  const outputs: CodeOutput[] = []
  const print = (type: 'stdout' | 'stderr') => (text: unknown) =>
    void outputs.push({ type, data: new TextEncoder().encode(`${String(text)}\n`) })
  context.console = { log: print('stdout'), error: print('stderr') }
  let failure: RunCodeResult['error']
  try {
    runInContext(code, context, { timeout: options.timeoutMs ?? 10_000 })
  } catch (error) {
    // An error of the context is of another realm: not an instance of our Error.
    const { name, message } = error as Error
    failure = { name, message }
  }
  for (const output of outputs) await options.onOutput?.(output)
  return failure === undefined ? { outputs, exitCode: 0 } : { outputs, exitCode: 1, error: failure }
}
