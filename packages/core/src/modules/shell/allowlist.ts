import { PolicyError, type PolicyErrorCode } from '../../errors/policy-error.ts'
import { logMessages } from '../../logging/log-messages.ts'
import type { PolicyContext } from '../define-module.ts'
import type { ShellCommand } from './contract.ts'
import { parseWords, quoteWord, type WordOffenceKind } from './words.ts'

const REFUSALS = {
  metacharacter: { code: 'shell-metacharacter', message: logMessages.shellMetacharacterRejected },
  expansion: { code: 'expansion', message: logMessages.expansionRejected },
  command: { code: 'command-not-allowed', message: logMessages.commandNotInAllowlist },
} as const satisfies Readonly<Record<string, { code: PolicyErrorCode; message: string }>>

/** So much of a rejected command is shown to operators, and of its first word in the key. */
const SHOWN_CHARACTERS = 200
const NAMED_COMMANDS = 20

interface Refusal {
  readonly reason: WordOffenceKind | 'command'
  readonly command: ShellCommand
  readonly firstWord: string
  /** What is wrong, for the model. */
  readonly detail: string
  readonly character?: string
}

/** Lets only single programs from a list through, as argument vectors that no shell interprets. */
export class CommandAllowlist {
  readonly #allowed: ReadonlySet<string>
  readonly #hint: string
  readonly #context: PolicyContext

  constructor(allowed: readonly string[], context: PolicyContext) {
    this.#allowed = new Set(allowed)
    const more = allowed.length > NAMED_COMMANDS ? ', …' : ''
    const names = allowed.slice(0, NAMED_COMMANDS).join(', ') + more
    this.#hint = `Give one program and its arguments, with special characters in single quotes. Allowed programs: ${names}.`
    this.#context = context
  }

  /**
   * The words of an allowed command.
   * @throws {PolicyError} `shell-metacharacter`, `expansion`, `command-not-allowed`; audited.
   */
  admit(command: ShellCommand): readonly string[] {
    const words = typeof command === 'string' ? this.#parse(command) : this.#check(command)
    const firstWord = words[0] ?? ''
    if (this.#allowed.has(firstWord)) return words
    const shown = JSON.stringify(firstWord.slice(0, SHOWN_CHARACTERS))
    const detail =
      words.length === 0 ? 'the command is empty' : `${shown} is not an allowed program`
    throw this.#refuse({ reason: 'command', command, firstWord, detail })
  }

  /**
   * Variables can turn an allowed program into another one (`PATH`, `LD_PRELOAD`, `GIT_SSH`).
   * @throws {PolicyError} `shell-metacharacter`, as for `NAME=value command`; audited.
   */
  rejectVariables(command: ShellCommand, names: readonly string[]): void {
    if (names.length === 0) return
    const firstWord =
      typeof command === 'string' ? (parseWords(command).words?.[0] ?? '') : command[0]
    throw this.#refuse({
      reason: 'metacharacter',
      command,
      firstWord: firstWord ?? '',
      detail: 'environment variables cannot be set here',
      character: '=',
    })
  }

  #parse(line: string): readonly string[] {
    const { words, offence } = parseWords(line)
    if (words !== undefined) return words
    const { kind, character, index, firstWord } = offence
    const detail = `${visible(character)} at position ${index + 1} ${offence.detail}`
    throw this.#refuse({ reason: kind, command: line, firstWord, detail, character })
  }

  #check(words: readonly string[]): readonly string[] {
    if (!words.some((word) => word.includes('\0'))) return words
    const detail = 'an argument contains a NUL character'
    const firstWord = words[0] ?? ''
    throw this.#refuse({
      reason: 'metacharacter',
      command: words,
      firstWord,
      detail,
      character: '\0',
    })
  }

  #refuse(refusal: Refusal): PolicyError {
    const { code, message } = REFUSALS[refusal.reason]
    const { command, character } = refusal
    const firstWord = refusal.firstWord.slice(0, SHOWN_CHARACTERS)
    const text = typeof command === 'string' ? command : command.map(quoteWord).join(' ')
    this.#context.audit({
      message,
      code,
      key: `${firstWord} ${character ?? ''}`.trimEnd(),
      fields: {
        command: text.slice(0, SHOWN_CHARACTERS),
        firstWord,
        ...(character !== undefined && { character: visible(character) }),
      },
    })
    return new PolicyError(code, refusal.detail, { hint: this.#hint })
  }
}

/** A character as people can read it, whatever it does to a terminal. */
function visible(character: string): string {
  if (/^[!-~]$/.test(character)) return `\`${character}\``
  const codePoint = character.codePointAt(0) ?? 0
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
}
