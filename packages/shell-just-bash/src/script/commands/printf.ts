import type { Command } from 'just-bash'
import { utf8Latin1 } from '../byte-strings.ts'

/**
 * Writes bytes, as `\377` and the halves of a character do. just-bash has one character for each
 * escape, which it then takes for a letter.
 */
export const printfCommand: Command = {
  name: 'printf',
  execute: async (args, { origCommand }) => {
    if (origCommand === undefined) return { stdout: '', stderr: 'printf: not here\n', exitCode: 1 }
    // Only an escape or a character outside ASCII can be taken for something else.
    if (args[0] === '-v' || !args.some(isSpecial)) return origCommand(args)
    const result = await origCommand(args.map((arg) => utf8Latin1(expandUnicode(arg))))
    return { ...result, stdoutKind: 'bytes', stdoutEncoding: 'binary' }
  },
}

function isSpecial(arg: string): boolean {
  return /\P{ASCII}|\\[0-7xuU]/u.test(arg)
}

/** `\u00e9` → é: afterwards every character is a byte. */
function expandUnicode(arg: string): string {
  return arg.replace(/\\u([\da-f]{1,4})|\\U([\da-f]{1,8})/gi, (whole, short, long) => {
    const code = Number.parseInt(`${short ?? long}`, 16)
    return code <= 0x10ffff && code > 0x7f ? String.fromCodePoint(code) : whole
  })
}
