import { PolicyError } from '../../errors/policy-error.ts'
import { logMessages } from '../../logging/log-messages.ts'
import type { PolicyContext } from '../define-module.ts'
import type { CodeConfig } from './config.ts'
import type { CodeInterpreter, RunCodeOptions } from './contract.ts'

/** So much of a rejected language is shown. */
const SHOWN_CHARACTERS = 40

type CheckLanguage = (language: string) => void
type Bound = (options?: RunCodeOptions) => RunCodeOptions

/** Bounds the time of every run, lets only declared languages through, and keeps state only when asked. */
export function withCodePolicy(
  code: CodeInterpreter,
  config: CodeConfig,
  context: PolicyContext,
): CodeInterpreter {
  const check = createLanguageCheck(config, context)
  const bound: Bound = (options = {}) => ({
    ...options,
    timeoutMs: Math.min(options.timeoutMs ?? config.timeoutMs, config.timeoutMs),
  })
  return {
    languages: code.languages.filter((language) => config.languages?.includes(language) ?? true),
    isStateful: code.isStateful && config.isStateful,
    runCode: async (language, source, options) => {
      check(language)
      return code.runCode(language, source, bound(options))
    },
    ...(config.isStateful ? guardContexts(code, check, bound) : {}),
  }
}

function guardContexts(
  code: CodeInterpreter,
  check: CheckLanguage,
  bound: Bound,
): Pick<CodeInterpreter, 'createContext' | 'runInContext' | 'deleteContext'> {
  const create = code.createContext?.bind(code)
  const run = code.runInContext?.bind(code)
  const remove = code.deleteContext?.bind(code)
  return {
    ...(create && {
      createContext: async (language: string) => {
        check(language)
        return create(language)
      },
    }),
    ...(run && { runInContext: async (id, source, options) => run(id, source, bound(options)) }),
    ...(remove && { deleteContext: remove }),
  }
}

function createLanguageCheck(config: CodeConfig, context: PolicyContext): CheckLanguage {
  if (config.languages === undefined) return () => {}
  const allowed = new Set(config.languages)
  const hint = `Allowed languages: ${config.languages.join(', ')}.`
  return (language) => {
    if (allowed.has(language)) return
    const shown = language.slice(0, SHOWN_CHARACTERS)
    context.audit({
      message: logMessages.languageNotAllowed,
      code: 'language-not-allowed',
      key: shown,
      fields: { language: shown },
    })
    const detail = `${JSON.stringify(shown)} is not an allowed language`
    throw new PolicyError('language-not-allowed', detail, { hint })
  }
}
