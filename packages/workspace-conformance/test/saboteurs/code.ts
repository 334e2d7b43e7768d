import type { CodeInterpreter, RunCodeResult } from '@helix-agents/core/provider'
import { omit } from './omit.ts'

type Saboteur = (good: CodeInterpreter) => CodeInterpreter

const replace =
  (change: (good: CodeInterpreter) => Partial<CodeInterpreter>): Saboteur =>
  (good) => ({ ...good, ...change(good) })

/** Changes the result of each run. */
const result = (change: (value: RunCodeResult) => Partial<RunCodeResult>): Saboteur =>
  replace((good) => ({
    runCode: async (...args) => {
      const value = await good.runCode(...args)
      return { ...value, ...change(value) }
    },
  }))

/** All contexts, and all runs, are one. */
const oneContext = replace((good) => {
  const only = good.createContext!('javascript')
  return {
    createContext: () => only,
    runCode: async (_, code, options) => good.runInContext!(await only, code, options),
    runInContext: async (_, code, options) => good.runInContext!(await only, code, options),
  }
})

const forgets = replace((good) => ({
  runInContext: (_, code, options) => good.runCode('javascript', code, options),
}))

const noContextMethods: Saboteur = (good) => omit(good, 'createContext')

export const codeSaboteurs: Readonly<Record<string, Saboteur>> = {
  'code/languages/are-named-once': replace(() => ({ languages: ['javascript', 'javascript'] })),
  'code/languages/an-unknown-one-is-rejected': replace((good) => ({
    runCode: (_, code, options) => good.runCode('javascript', code, options),
  })),
  'code/run/both-outputs-are-kept': result((value) => ({
    outputs: value.outputs.filter((output) => output.type === 'stdout'),
  })),
  'code/run/an-error-is-a-result': result(() => ({ exitCode: 0 })),
  'code/run/broken-syntax-is-a-result': result(() => ({ exitCode: 0 })),
  'code/run/output-comes-while-it-runs': replace((good) => ({
    runCode: (language, code) => good.runCode(language, code),
  })),
  'code/run/runs-share-no-variables': oneContext,
  'code/run/a-timeout-ends-it': result((value) => (value.exitCode === 0 ? {} : { outputs: [] })),
  'code/run/an-aborted-signal-runs-nothing': replace((good) => ({
    runCode: (language, code) => good.runCode(language, code),
  })),
  'code/context/methods-follow-is-stateful': noContextMethods,
  'code/context/keeps-variables': forgets,
  'code/context/two-never-share': oneContext,
  'code/context/an-error-keeps-the-context': forgets,
  'code/context/a-deleted-or-unknown-one-is-rejected': replace(() => ({
    deleteContext: async () => {},
  })),
}
