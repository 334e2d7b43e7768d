import { splitOptions, wrapped } from './operands.ts'

/** Commands that take the same arguments in fewer forms than the tools of GNU do. */
export const argumentForms = [
  wrapped('xargs', (args, original) => {
    const split = splitOptions(args, 'nILPdEs')
    // With -I an argument is a line.
    const takesLines = split.includes('-I') && !split.includes('-d') && !split.includes('-0')
    return original(takesLines ? ['-d', '\\n', ...split] : split)
  }),
  wrapped('nl', async (args, original) => {
    const result = await original(args)
    return { ...result, stdout: result.stdout.replaceAll(/^ {6}\t(?=\n|$)/gm, ' '.repeat(7)) }
  }),
  wrapped('paste', (args, original) => {
    const split = splitOptions(args, 'd')
    const operands = split.filter((arg, index) => !arg.startsWith('-') && split[index - 1] !== '-d')
    return original(operands.length > 0 || split.includes('-') ? split : [...split, '-'])
  }),
  wrapped('uniq', async (args, original) => {
    const result = await original(args)
    const counts = args.some((arg) => arg === '--count' || /^-[a-z]*c/.test(arg))
    if (!counts || result.exitCode !== 0) return result
    const stdout = result.stdout.replaceAll(/^ *(\d+) /gm, (_, n: string) => `${n.padStart(7)} `)
    return { ...result, stdout }
  }),
]
