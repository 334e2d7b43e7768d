// The table of the page: what its rows say, in which order, and which of them.
import { beforeEach, describe, expect, test } from 'vitest'
import type { WireSandbox } from '../../../src/http/wire.ts'
import { byId } from '../../../src/dashboard/page/elements.ts'
import { SandboxTable } from '../../../src/dashboard/page/table.ts'
import { OWED, sandbox } from '../wire-samples.ts'
import { clickOf, find, openDocument, textOf, type } from './page.ts'

let table: SandboxTable
let events: unknown[]
beforeEach(() => {
  openDocument()
  events = []
  table = new SandboxTable({
    onShow: (id) => events.push(['show', id]),
    onTerminate: (one) => events.push(['terminate', one]),
  })
})

const finding = (severity: 'warning' | 'critical') =>
  ({ code: 'stuck', severity, reason: 'It is stuck.', action: 'End it.' }) as const

const FLEET: readonly WireSandbox[] = [
  sandbox({ id: 'young', age_minutes: 1, agent_type: 'coder', idle_minutes: 3, cpu_percent: 9 }),
  sandbox({ id: 'old', age_minutes: 90, critical: true, agent_type: 'artist', cpu_percent: 10 }),
  sandbox({ id: 'warned', findings: [finding('warning')], idle_minutes: 2, status: 'failed' }),
  sandbox({ id: 'owed', owed: OWED, age_minutes: 2, status: 'terminated', idle_minutes: 1 }),
]

const rows = (): readonly HTMLElement[] =>
  Array.from(find('rows').children).filter((row) => row instanceof HTMLElement)
const ids = (): readonly (string | undefined)[] => rows().map((row) => row.dataset.id)
const cellsOf = (id: string): readonly string[] =>
  Array.from(find('rows').querySelectorAll(`[data-id="${id}"] td`), ({ innerHTML }) => innerHTML)

function choose(status: string): void {
  const filter = byId('status-filter', HTMLSelectElement)
  filter.value = status
  filter.dispatchEvent(new Event('input'))
}

const sortBy = (column: string): void =>
  find('columns').querySelector<HTMLElement>(`[data-column="${column}"] button`)?.click()

const sorts = (): readonly string[] =>
  Array.from(
    find('columns').children,
    (head) => `${head.textContent} ${head.getAttribute('aria-sort')}`,
  )

const sorted = (): readonly string[] => sorts().filter((head) => !/(?:none|null)$/.test(head))

describe('a table', () => {
  test('has a heading for each column, and can be sorted by all but the last', () => {
    table.show([])
    expect(sorts()).toEqual([
      'Status none',
      'Sandbox none',
      'Age none',
      'Owner none',
      'CPU, memory none',
      'Last activity none',
      'What is the matter none',
      'Actions null',
    ])
    const heads = Array.from(find('columns').children)
    expect(heads.filter((head) => head.getAttribute('scope') !== 'col')).toEqual([])
    const buttons = find('columns').querySelectorAll('button')
    expect(Array.from(buttons, (button) => button.type)).toEqual(Array(7).fill('button'))
    expect(textOf('table-caption')).toBe('0 of 0 sandboxes')
  })

  test('says in each row what is known of a sandbox', () => {
    table.show([
      sandbox({
        id: 'a<b',
        provider: 'local',
        status: 'terminating',
        critical: true,
        owed: OWED,
        agent_type: 'coder',
        age_minutes: 90,
        idle_minutes: 0.5,
        cpu_percent: 5,
        memory_mb: 20,
        findings: [finding('warning')],
      }),
      sandbox({ id: 'plain' }),
    ])
    expect(cellsOf('a<b').slice(0, -1)).toEqual([
      '<span class="tag terminating">terminating</span> <span class="tag owed">owed</span>',
      'a&lt;b<br><span class="quiet">local</span> <span class="tag spared in an emergency">spared in an emergency</span>',
      '90 min',
      'coder',
      '5 %, 20 MB',
      '30 s ago',
      '<span class="reason">Destroy not confirmed after 2 attempts.</span><span class="reason">It is stuck. End it.</span>',
    ])
    expect(cellsOf('plain')).toEqual([
      '<span class="tag running">running</span>',
      'plain<br><span class="quiet">fake</span>',
      '1 min',
      'none',
      'not known',
      '0 s ago',
      '',
      '<button type="button" aria-label="Details of plain">Details</button> <button type="button" class="danger terminate" aria-label="Terminate plain">Terminate…</button>',
    ])
    expect(rows().map((row) => row.dataset.severity)).toEqual(['critical', 'none'])
    const [first] = rows()
    const labels = Array.from(first?.children ?? [], (cell) => cell.getAttribute('data-label'))
    expect(labels).toEqual([
      'Status',
      'Sandbox',
      'Age',
      'Owner',
      'CPU, memory',
      'Last activity',
      'What is the matter',
      null,
    ])
  })

  test('has what is worst and oldest first', () => {
    table.show(FLEET)
    choose('all')
    expect(ids()).toEqual(['owed', 'warned', 'old', 'young'])
  })

  test.each([
    ['status', 'Status', 'owed warned old young', 'old young warned owed'],
    ['id', 'Sandbox', 'young warned owed old', 'old owed warned young'],
    ['age', 'Age', 'old owed warned young', 'warned young owed old'],
    ['owner', 'Owner', 'owed warned young old', 'old young owed warned'],
    ['resources', 'CPU, memory', 'old young owed warned', 'owed warned young old'],
    ['activity', 'Last activity', 'young warned owed old', 'old owed warned young'],
    ['reason', 'What is the matter', 'owed warned old young', 'old young warned owed'],
  ])('is sorted by %s from the top, then from the bottom', (column, title, down, up) => {
    table.show(FLEET)
    choose('all')
    sortBy(column)
    expect([ids().join(' '), sorted()]).toEqual([down, [`${title} descending`]])
    sortBy(column)
    expect([ids().join(' '), sorted()]).toEqual([up, [`${title} ascending`]])
    // Another column begins from the top again.
    sortBy(column === 'id' ? 'age' : 'id')
    expect(sorted()).toEqual([column === 'id' ? 'Age descending' : 'Sandbox descending'])
  })

  test('shows what is chosen: those that are active at first', () => {
    table.show(FLEET)
    const options = Array.from(find('status-filter').children, ({ outerHTML }) => outerHTML)
    const statuses = ['active', 'provisioning', 'running', 'terminating', 'failed', 'all']
    expect(options).toEqual(statuses.map((one) => `<option value="${one}">${one}</option>`))
    expect([ids(), textOf('table-caption')]).toEqual([
      ['warned', 'old', 'young'],
      '3 of 4 sandboxes',
    ])
    choose('failed')
    expect(ids()).toEqual(['warned'])
    choose('all')
    type('search', 'W')
    expect([ids(), textOf('table-caption')]).toEqual([['owed', 'warned'], '2 of 4 sandboxes'])
    type('search', '')
    const attention = byId('attention', HTMLInputElement)
    attention.checked = true
    attention.dispatchEvent(new Event('input'))
    expect(ids()).toEqual(['owed', 'warned'])
  })

  test('shows no more than a browser can hold, and says so', () => {
    const many = Array.from({ length: 501 }, (_, index) => sandbox({ id: `s-${index}` }))
    table.show(many)
    const cut = '501 of 501 sandboxes, the first 500 are shown'
    expect([rows().length, textOf('table-caption')]).toEqual([500, cut])
    table.show(many.slice(1))
    expect([rows().length, textOf('table-caption')]).toEqual([500, '500 of 500 sandboxes'])
  })
})

describe('a row', () => {
  test('stays while its sandbox is listed, and what it says is up to date', () => {
    table.show(FLEET)
    const [warned, old, young] = rows()
    table.show([sandbox({ id: 'young', findings: [finding('critical')] }), ...FLEET.slice(1, 2)])
    expect(rows()).toEqual([young, old])
    expect(young?.dataset.severity).toBe('critical')
    expect(warned?.isConnected).toBe(false)
    // What has gone is forgotten.
    table.show(FLEET)
    expect(ids()).toEqual(['warned', 'old', 'young'])
    expect(rows()[0]).not.toBe(warned)
    expect(rows().slice(1)).toEqual([old, young])
  })

  test('that is only hidden keeps its place', () => {
    table.show(FLEET)
    const before = rows()
    choose('failed')
    choose('active')
    expect(rows()).toEqual(before)
  })

  test('that stays keeps the focus', () => {
    table.show(FLEET)
    const button = find('rows').querySelector<HTMLElement>('[aria-label="Details of young"]')
    button?.focus()
    table.show(FLEET.slice(0, 1))
    expect(document.activeElement).toBe(button)
  })

  test('has buttons, for what is listed now', () => {
    table.show([sandbox({ id: 'a' })])
    const again = sandbox({ id: 'a', generation: 2 })
    table.show([again])
    clickOf('Details of a')
    clickOf('Terminate a')
    expect(events).toEqual([
      ['show', 'a'],
      ['terminate', again],
    ])
  })

  test('of one that is gone offers to end nothing', () => {
    table.show([sandbox({ id: 'a' })])
    const button = find('rows').querySelector('[aria-label="Terminate a"]')
    expect(button).toHaveProperty('disabled', false)
    choose('all')
    table.show([sandbox({ id: 'a', status: 'terminated' })])
    expect(button).toHaveProperty('disabled', true)
    table.show([])
    button?.removeAttribute('disabled')
    if (button instanceof HTMLElement) button.click()
    expect(events).toEqual([])
  })
})
