import type { WirePass } from '../../http/wire.ts'

const ENDINGS: Readonly<Record<WirePass['outcome'], string>> = {
  completed: '',
  more: ' There is more to do than one pass may: run it again.',
  'lease-held': ' Another sweeper is at work: try again later.',
  'lease-lost': ' Another sweeper took over.',
  'store-failed': ' The ledger did not answer.',
}

/** What a pass did or would do, in a sentence or two. */
export function sentenceOfPass(pass: WirePass): string {
  const ending = ENDINGS[pass.outcome]
  const counts = new Map<string, number>()
  for (const { outcome } of pass.items) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  if (counts.size === 0) return `Nothing to do.${ending}`
  return `${[...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}.${ending}`
}

/** What was left as it is, and why. */
export function remarksOf(pass: WirePass): readonly string[] {
  const spared = Object.entries(pass.spared).map(([reason, count]) => `${count} left: ${reason}`)
  const rejected = pass.rejected.map(
    ({ provider, because, detail }) =>
      `Nothing was concluded from the ${because} list of ${provider}: ${detail}`,
  )
  return [...rejected, ...spared, ...(pass.error === null ? [] : [pass.error])]
}
