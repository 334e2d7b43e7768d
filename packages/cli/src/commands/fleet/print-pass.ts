import { exitCodes } from '../../exit-codes.ts'
import type { Cell } from '../../output/cell.ts'
import type { Output } from '../../output/output.ts'
import type { PassAnswer } from './client/fleet-answers.ts'

/** What was meant to happen, or was rightly left. */
const FINE: ReadonlySet<string> = new Set([
  'adopted',
  'changed',
  'destroyed',
  'healed',
  'owner-alive',
  'planned',
  'present',
  'spared',
  'vanished',
])

const DONE: ReadonlySet<string> = new Set(['destroyed', 'healed', 'vanished', 'adopted'])

/** Whether the pass did all of its work, and all that it did is confirmed. */
export function exitCodeOf({ error, items, outcome, rejected }: PassAnswer): number {
  const isWhole = outcome === 'completed' && error === null && rejected.length === 0
  const isFine = isWhole && items.every((item) => FINE.has(item.outcome))
  return isFine ? exitCodes.ok : exitCodes.findings
}

/** What a pass did, for a person. */
export function printPass(pass: PassAnswer, output: Output): void {
  if (pass.items.length > 0) {
    output.table(
      [
        { title: 'sandbox' },
        { title: 'action', minWidth: 10 },
        { title: 'outcome' },
        { title: 'why', minWidth: 16 },
      ],
      pass.items.map(({ id, action, outcome, reason }) => [
        id,
        action,
        outcomeCell(outcome),
        reason,
      ]),
    )
  }
  for (const { because, detail, provider } of pass.rejected) {
    const text = `${provider}: its list was ${because}, nothing is concluded from it: ${detail}`
    output.line({ text, tone: 'bad' })
  }
  output.note(summaryOf(pass))
}

function outcomeCell(outcome: string): Cell {
  if (DONE.has(outcome)) return { text: outcome, tone: 'good' }
  return FINE.has(outcome) ? outcome : { text: outcome, tone: 'warning' }
}

function summaryOf({ dry_run, error, items, outcome, pass, spared }: PassAnswer): string {
  const left = Object.entries(spared).map(([why, count]) => `${count} ${why}`)
  const parts = [
    `${dry_run ? `${pass}, dry run` : pass}: ${outcome}`,
    ...countsOf(items.map((item) => item.outcome)),
    ...(left.length === 0 ? [] : [`left as they are: ${left.join(', ')}`]),
    ...(error === null ? [] : [error]),
  ]
  return parts.join('; ')
}

function countsOf(outcomes: readonly string[]): string[] {
  if (outcomes.length === 0) return ['nothing to do']
  const names = [...new Set(outcomes)]
  return names.map((name) => `${outcomes.filter((one) => one === name).length} ${name}`)
}
