/** One sample line of the text format. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Exposition {
  readonly samples: readonly Sample[]
  readonly kinds: ReadonlyMap<string, string>
  readonly helps: ReadonlyMap<string, string>
}

const samplePattern = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/
const labelPattern = /(?<key>[a-zA-Z_]\w*)="(?<value>(?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y

/** Reads the text format by its specification; throws at a line that it does not allow. */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line must end')
  const samples: Sample[] = []
  const kinds = new Map<string, string>()
  const helps = new Map<string, string>()
  for (const line of text.split('\n')) {
    const comment = /^# (?<kind>HELP|TYPE) (?<name>\S+) (?<rest>.*)$/.exec(line)?.groups
    if (comment !== undefined) {
      const target = comment.kind === 'TYPE' ? kinds : helps
      if (target.has(comment.name!)) throw new Error(`twice: ${line}`)
      target.set(comment.name!, comment.rest!)
    } else if (line !== '' && !line.startsWith('#')) samples.push(parseSample(line))
  }
  return { samples, kinds, helps }
}

function parseSample(line: string): Sample {
  const groups = samplePattern.exec(line)?.groups
  if (groups === undefined) throw new Error(`not a sample: ${line}`)
  const value = groups.value === '+Inf' ? Number.POSITIVE_INFINITY : Number(groups.value)
  if (Number.isNaN(value)) throw new Error(`not a number: ${line}`)
  return { name: groups.name!, labels: parseLabels(groups.labels ?? ''), value }
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  labelPattern.lastIndex = 0
  for (let at = 0; at < text.length; at = labelPattern.lastIndex) {
    const match = labelPattern.exec(text)
    if (match === null) throw new Error(`not labels: ${text}`)
    const { key, value } = match.groups!
    labels[key!] = value!.replaceAll(/\\(.)/g, (_, each: string) => (each === 'n' ? '\n' : each))
  }
  return labels
}
