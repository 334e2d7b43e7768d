import { splitOptions, wrapped } from '../gnu/operands.ts'
import { bytesResult, linesOf, readInputs } from './input.ts'

interface Cut {
  readonly delimiter: string | undefined
  readonly ranges: readonly Range[]
  readonly onlyDelimited: boolean
  readonly files: readonly string[]
}

type Range = readonly [from: number, to: number]

/** `cut` by fields and by bytes, which is what `-c` means to GNU. */
export const cutCommand = wrapped('cut', async (args, original, context) => {
  const cut = parse(args)
  const inputs = cut && (await readInputs(cut.files, context))
  if (cut === undefined || inputs === undefined) return original(args)
  const shown: string[] = []
  for (const { text } of inputs) {
    for (const line of linesOf(text)) {
      const kept = cutLine(line, cut)
      if (kept !== undefined) shown.push(kept)
    }
  }
  return bytesResult(shown.length === 0 ? '' : `${shown.join('\n')}\n`)
})

function cutLine(line: string, cut: Cut): string | undefined {
  const { delimiter, ranges, onlyDelimited } = cut
  if (delimiter === undefined) {
    return ranges.map(([from, to]) => line.slice(from - 1, to)).join('')
  }
  if (!line.includes(delimiter)) return onlyDelimited ? undefined : line
  const last = ranges.at(-1)?.[1] ?? 0
  const fields = line.split(delimiter, last === Infinity ? undefined : last)
  return ranges.flatMap(([from, to]) => fields.slice(from - 1, to)).join(delimiter)
}

const OPTIONS = /^-[dfcb]$/

function parse(args: readonly string[]): Cut | undefined {
  const options = optionsOf(splitOptions(args, 'dfcb'))
  if (options === undefined) return undefined
  const { values, files } = options
  const lists = ['-f', '-c', '-b'].flatMap((name) => values.get(name) ?? [])
  const ranges = lists.length === 1 ? rangesOf(lists[0] ?? '') : undefined
  const delimiter = values.get('-d') ?? '\t'
  if (ranges === undefined || !/^[\0-\t\v-\x7f]$/.test(delimiter)) return undefined
  const onlyDelimited = values.has('-s')
  return { delimiter: values.has('-f') ? delimiter : undefined, ranges, onlyDelimited, files }
}

interface Options {
  readonly values: ReadonlyMap<string, string>
  readonly files: readonly string[]
}

/** Undefined: one of them is not known here. */
function optionsOf(args: readonly string[]): Options | undefined {
  const values = new Map<string, string>()
  const files: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? ''
    if (OPTIONS.test(arg)) values.set(arg, args[(at += 1)] ?? '')
    else if (arg === '-s') values.set(arg, '')
    else if (arg.startsWith('-') && arg !== '-') return undefined
    else files.push(arg)
  }
  return { values, files }
}

/** `1,3-5,7-` in order and without overlaps, as cut takes it. */
function rangesOf(list: string): Range[] | undefined {
  const ranges = list.split(',').map(rangeOf)
  const known = ranges.filter((range) => range !== undefined)
  if (known.length < ranges.length) return undefined
  const merged: Range[] = []
  for (const [from, to] of known.toSorted(([a], [b]) => a - b)) {
    const before = merged.at(-1)
    if (before === undefined || from > before[1]) merged.push([from, to])
    else merged[merged.length - 1] = [before[0], Math.max(before[1], to)]
  }
  return merged
}

function rangeOf(part: string): Range | undefined {
  const found = /^(?:(\d+)|(\d+)-(\d+)|(\d+)-|-(\d+))$/.exec(part)
  if (found === null) return undefined
  const [one, first, last, start, end] = found.slice(1)
  const from = Number(one ?? first ?? start ?? 1)
  const to = Number(one ?? last ?? end ?? Infinity)
  return from >= 1 && from <= to ? [from, to] : undefined
}
