import type { Command } from 'just-bash'
import { awkPrint } from '../filters/awk-print.ts'
import { splitOptions, wrapped } from '../gnu/operands.ts'
import { AwkBoundError, boundAwk } from './bound-awk.ts'
import { boundJq } from './bound-jq.ts'

/** Options of jq and yq, with the number of words that follow them. */
const WORDS_OF_OPTIONS: ReadonlyMap<string, number> = new Map([
  ['--arg', 2],
  ['--argjson', 2],
  ['--rawfile', 2],
  ['--slurpfile', 2],
])

/** Programs with languages of their own, whose steps are of any size. */
export function boundedPrograms(isShared: boolean): Command[] {
  return [
    awk(isShared),
    ...['jq', 'yq'].map((name) =>
      wrapped(name, (args, original) => {
        const at = programAt(args)
        return original(args.map((arg, index) => (index === at ? boundJq(arg) : arg)))
      }),
    ),
  ]
}

function awk(isShared: boolean): Command {
  return wrapped('awk', async (args, original, context) => {
    const printed = await awkPrint(args, context)
    if (printed !== undefined) return printed
    const split = splitOptions(args, 'Fv').map(literalSeparator)
    const at = split.findIndex(
      (arg, index) => !arg.startsWith('-') && !['-F', '-v'].includes(split[index - 1] ?? ''),
    )
    try {
      const bounded = (arg: string, index: number) => (index === at ? boundAwk(arg, isShared) : arg)
      return await original(split.map(bounded))
    } catch (error) {
      if (!(error instanceof AwkBoundError)) throw error
      return { stdout: '', stderr: `awk: ${error.message}\n`, exitCode: 2 }
    }
  })
}

function programAt(args: readonly string[]): number {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? ''
    if (!arg.startsWith('-')) return at
    at += WORDS_OF_OPTIONS.get(arg) ?? 0
  }
  return -1
}

/** A separator of one character is that character, also where it means more in a pattern. */
function literalSeparator(arg: string, index: number, args: readonly string[]): string {
  return args[index - 1] === '-F' && /^[.|*+?$^()[\]{}]$/.test(arg) ? `[${arg}]` : arg
}
