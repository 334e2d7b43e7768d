import type {
  CodeContextId,
  CodeInterpreter,
  CodeOutput,
  RunCodeResult,
} from '@helix-agents/core/provider'
import {
  check,
  ConformanceError,
  equal,
  offered,
  rejectsAborted,
  rejectsWithCode,
  textOf,
} from '../assert.ts'
import type { Behaviour } from '../behaviour.ts'
import { type Snippets, snippets } from './snippets.ts'

/** A clause about running code. */
export type CodeBehaviour = Behaviour<CodeInterpreter>

type StatefulInterpreter = CodeInterpreter &
  Required<Pick<CodeInterpreter, 'createContext' | 'runInContext' | 'deleteContext'>>

const CONTEXT_METHODS = ['createContext', 'runInContext', 'deleteContext']
const GRACE_MS = 45_000

/** Runs a check in every offered language that the kit can write. */
function inEachLanguage(
  test: (code: CodeInterpreter, language: string, write: Snippets) => Promise<void>,
): CodeBehaviour['run'] {
  return async (code) => {
    const known = code.languages.filter((language) => snippets.has(language))
    check(known.length > 0, `one of ${[...snippets.keys()].join(', ')}`)
    for (const language of known) {
      const write = snippets.get(language)
      if (write !== undefined) await test(code, language, write)
    }
  }
}

async function runIntoTimeout(
  code: CodeInterpreter,
  [language, script]: readonly [language: string, script: string],
  timeoutMs: number,
): Promise<RunCodeResult> {
  const startedAt = Date.now()
  const result = await code.runCode(language, script, { timeoutMs })
  check(Date.now() - startedAt < timeoutMs + GRACE_MS, 'an end soon after the deadline')
  return result
}

function stream(outputs: readonly CodeOutput[], type: 'stdout' | 'stderr'): string {
  return outputs.map((output) => (output.type === type ? textOf(output.data) : '')).join('')
}

function statefulOf(code: CodeInterpreter): StatefulInterpreter {
  if (isStateful(code)) return code
  throw new ConformanceError('expected createContext, runInContext and deleteContext')
}

function isStateful(code: CodeInterpreter): code is StatefulInterpreter {
  return offered(code, CONTEXT_METHODS).every(Boolean)
}

/** Every clause about running code. */
export const codeBehaviours: readonly CodeBehaviour[] = [
  {
    id: 'code/languages/are-named-once',
    run: async ({ languages }) => {
      check(languages.length > 0, 'a language')
      equal(new Set(languages).size, languages.length)
    },
  },
  {
    id: 'code/languages/an-unknown-one-is-rejected',
    run: (code) => rejectsWithCode('invalid-input', () => code.runCode('no-such-language', '1')),
  },
  {
    id: 'code/run/both-outputs-are-kept',
    run: inEachLanguage(async (code, language, write) => {
      const script = [write.print('zß水'), write.warn('careful'), write.print('end')].join('\n')
      const { outputs, exitCode, error } = await code.runCode(language, script)
      equal([stream(outputs, 'stdout'), stream(outputs, 'stderr')], ['zß水\nend\n', 'careful\n'])
      equal([exitCode, error === undefined], [0, true])
    }),
  },
  {
    id: 'code/run/an-error-is-a-result',
    run: inEachLanguage(async (code, language, write) => {
      const script = [write.print('before'), write.fail('the code broke')].join('\n')
      const { outputs, exitCode, error } = await code.runCode(language, script)
      equal(stream(outputs, 'stdout'), 'before\n')
      check(exitCode !== 0, 'a failure')
      check(error?.message.includes('the code broke') === true, 'the message of the error')
      check((error?.name ?? '') !== '', 'the name of the error')
    }),
  },
  {
    id: 'code/run/broken-syntax-is-a-result',
    run: inEachLanguage(async (code, language) => {
      const { exitCode, error } = await code.runCode(language, '((')
      check(exitCode !== 0 && error !== undefined, 'an error')
    }),
  },
  {
    id: 'code/run/output-comes-while-it-runs',
    run: inEachLanguage(async (code, language, write) => {
      const seen: CodeOutput[] = []
      const script = [write.print('one'), write.print('two')].join('\n')
      const { outputs } = await code.runCode(language, script, {
        onOutput: async (output) => void seen.push(output),
      })
      equal(stream(seen, 'stdout'), stream(outputs, 'stdout'))
    }),
  },
  {
    id: 'code/run/runs-share-no-variables',
    run: inEachLanguage(async (code, language, write) => {
      await code.runCode(language, write.assign('shared', 41))
      const { exitCode } = await code.runCode(language, write.printVariable('shared'))
      check(exitCode !== 0, 'an unknown variable')
    }),
  },
  {
    id: 'code/run/a-timeout-ends-it',
    slow: true,
    run: inEachLanguage(async (code, language, write) => {
      const started = Date.now()
      await code.runCode(language, write.print('ready'))
      const startMs = Date.now() - started
      const script = [write.print('before'), write.forever].join('\n')
      const run = (timeoutMs: number) => runIntoTimeout(code, [language, script], timeoutMs)
      let { outputs, exitCode } = await run(300 + 2 * startMs)
      // An interpreter needs its time to start, a multiple of it on a busy machine.
      if (outputs.length === 0) ({ outputs, exitCode } = await run(500 + 10 * startMs))
      check(exitCode !== 0, 'a failure')
      equal(stream(outputs, 'stdout'), 'before\n')
      equal((await code.runCode(language, write.print('fine'))).exitCode, 0)
    }),
  },
  {
    id: 'code/run/an-aborted-signal-runs-nothing',
    run: inEachLanguage(async (code, language, write) => {
      const reason = new Error('stopped by the test')
      const signal = AbortSignal.abort(reason)
      await rejectsAborted(reason, () => code.runCode(language, write.print('x'), { signal }))
    }),
  },
  {
    id: 'code/context/methods-follow-is-stateful',
    run: async (code) => {
      const wanted = CONTEXT_METHODS.map(() => code.isStateful)
      equal(offered(code, CONTEXT_METHODS), wanted)
    },
  },
  {
    id: 'code/context/keeps-variables',
    needs: ['stateful-code'],
    run: inEachLanguage(async (code, language, write) => {
      const stateful = statefulOf(code)
      const context = await stateful.createContext(language)
      await stateful.runInContext(context, write.assign('kept', 42))
      const { outputs } = await stateful.runInContext(context, write.printVariable('kept'))
      equal(stream(outputs, 'stdout'), '42\n')
    }),
  },
  {
    id: 'code/context/two-never-share',
    needs: ['stateful-code'],
    run: inEachLanguage(async (code, language, write) => {
      const stateful = statefulOf(code)
      const first = await stateful.createContext(language)
      const second = await stateful.createContext(language)
      check(first !== second, 'two ids')
      await stateful.runInContext(first, write.assign('mine', 1))
      const { exitCode } = await stateful.runInContext(second, write.printVariable('mine'))
      check(exitCode !== 0, 'an unknown variable')
    }),
  },
  {
    id: 'code/context/an-error-keeps-the-context',
    needs: ['stateful-code'],
    run: inEachLanguage(async (code, language, write) => {
      const stateful = statefulOf(code)
      const context = await stateful.createContext(language)
      await stateful.runInContext(context, write.assign('kept', 42))
      const failed = await stateful.runInContext(context, write.fail('the code broke'))
      check(failed.exitCode !== 0, 'a failure')
      const { outputs } = await stateful.runInContext(context, write.printVariable('kept'))
      equal(stream(outputs, 'stdout'), '42\n')
    }),
  },
  {
    id: 'code/context/a-deleted-or-unknown-one-is-rejected',
    needs: ['stateful-code'],
    run: inEachLanguage(async (code, language, write) => {
      const stateful = statefulOf(code)
      const context = await stateful.createContext(language)
      await stateful.deleteContext(context)
      const run = (): Promise<unknown> => stateful.runInContext(context, write.print('x'))
      await rejectsWithCode('invalid-input', run)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an id that was never issued
      const unknown = 'no-such-context' as CodeContextId
      await rejectsWithCode('invalid-input', () => stateful.runInContext(unknown, write.print('x')))
    }),
  },
]
