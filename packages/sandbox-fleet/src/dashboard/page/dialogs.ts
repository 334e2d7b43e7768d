import type { WirePass, WireSandboxDetail } from '../../http/wire.ts'
import { byId, element } from './elements.ts'
import type { FleetClient } from './fleet-client.ts'
import { remarksOf, sentenceOfPass } from './outcome.ts'

/** Asks before something is done. `word` must be typed first. */
export interface Question {
  readonly title: string
  readonly body: readonly Node[]
  readonly apply: string
  readonly word?: string
}

/** True when the person said yes. Escape, Cancel and a wrong word are no. */
export function confirm(question: Question): Promise<boolean> {
  const dialog = byId('plan', HTMLDialogElement)
  const apply = byId('plan-apply', HTMLButtonElement)
  const cancel = byId('plan-cancel', HTMLButtonElement)
  const word = byId('plan-word', HTMLInputElement)
  byId('plan-title', HTMLElement).textContent = question.title
  byId('plan-body', HTMLElement).replaceChildren(...question.body)
  byId('plan-confirm', HTMLElement).hidden = question.word === undefined
  const label = dialog.querySelector('label')
  if (label !== null) label.textContent = `Type “${question.word ?? ''}” to go on`
  apply.textContent = question.apply
  word.value = ''
  apply.disabled = question.word !== undefined
  const closing = new AbortController()
  const { signal } = closing
  word.addEventListener('input', () => (apply.disabled = word.value !== question.word), { signal })
  apply.addEventListener('click', () => dialog.close('apply'), { signal })
  cancel.addEventListener('click', () => dialog.close('cancel'), { signal })
  return new Promise((resolve) => {
    const answer = (): void => {
      closing.abort()
      resolve(dialog.returnValue === 'apply')
    }
    dialog.addEventListener('close', answer, { signal })
    dialog.returnValue = 'cancel'
    dialog.showModal()
    cancel.focus()
  })
}

/** What a pass would do, to be read before it does. */
export function planBody(plan: WirePass): readonly Node[] {
  const items = plan.items.map((item) => `${item.id}: ${item.action}. ${item.reason}`)
  return [
    element('p', {}, sentenceOfPass(plan)),
    ...listOf('To be done', items),
    ...listOf('Left as it is', remarksOf(plan)),
  ]
}

/** Shows everything that is known of one sandbox. */
export async function showDetail(
  client: FleetClient,
  id: string,
  isStale: () => boolean,
): Promise<void> {
  const [detail, logs, resources] = await Promise.allSettled([
    client.show(id),
    client.logs(id),
    client.resources(id),
  ])
  if (detail.status === 'rejected') throw detail.reason
  const dialog = byId('detail', HTMLDialogElement)
  if (isStale() || dialog.open) return
  byId('detail-title', HTMLElement).textContent = id
  byId('detail-body', HTMLElement).replaceChildren(
    facts(detail.value),
    element('h2', {}, 'History'),
    element(
      'ol',
      {},
      ...detail.value.history.map((entry) =>
        element(
          'li',
          {},
          [entry.at, entry.event, `→ ${entry.status}`, entry.detail ?? ''].join(' ').trim(),
        ),
      ),
    ),
    element('h2', {}, 'Resources'),
    textOf(resources, (value) => JSON.stringify(value, undefined, 2)),
    element('h2', {}, 'Logs'),
    textOf(logs, (value) => (value.is_cut ? '…\n' : '') + value.lines.join('\n')),
  )
  dialog.showModal()
  byId('detail-close', HTMLButtonElement).focus()
}

function facts(detail: WireSandboxDetail): HTMLElement {
  const { history: _history, findings, ...rest } = detail
  const rows = Object.entries(rest).filter(([, value]) => value !== null)
  const list = element('dl')
  for (const [name, value] of rows) {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    list.append(element('dt', { class: 'quiet' }, name), element('dd', {}, text))
  }
  for (const finding of findings) {
    list.append(
      element('dt', { class: 'quiet' }, finding.code),
      element('dd', {}, `${finding.reason} ${finding.action}`),
    )
  }
  return list
}

function textOf<T>(settled: PromiseSettledResult<T>, render: (value: T) => string): HTMLElement {
  if (settled.status === 'fulfilled')
    return element('pre', { tabindex: '0' }, render(settled.value))
  return element('p', { class: 'quiet' }, `Not available: ${String(settled.reason)}`)
}

function listOf(title: string, lines: readonly string[]): readonly Node[] {
  if (lines.length === 0) return []
  const items = lines.map((line) => element('li', {}, line))
  return [element('h2', {}, `${title} (${lines.length})`), element('ul', {}, ...items)]
}
