// The dialogs of the page: what they say, and what counts as a yes.
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { confirm, planBody, showDetail } from '../../../src/dashboard/page/dialogs.ts'
import { byId, element } from '../../../src/dashboard/page/elements.ts'
import { FleetClient } from '../../../src/dashboard/page/fleet-client.ts'
import type { WirePass } from '../../../src/http/wire.ts'
import { isoOf, NOW, sandbox } from '../wire-samples.ts'
import { click, find, isOpen, openDocument, textOf, type } from './page.ts'

beforeEach(openDocument)

const linesOf = (id: string): readonly string[] =>
  Array.from(find(id).querySelectorAll('*'))
    .filter((part) => part.childElementCount === 0)
    .map(({ localName, textContent }) => `${localName} ${textContent}`)

const ask = (word?: string): Promise<boolean> =>
  confirm({
    title: 'Sure?',
    body: [element('p', {}, 'It is gone then.')],
    apply: 'Do it',
    ...(word !== undefined && { word }),
  })

describe('a question', () => {
  test.each([
    ['the button that applies it', () => click('plan-apply'), true],
    ['the button that cancels it', () => click('plan-cancel'), false],
    // As the browser does at Escape.
    ['Escape', () => byId('plan', HTMLDialogElement).close(), false],
  ])('is answered by %s', async (_, answer, isYes) => {
    const answered = ask()
    expect([isOpen('plan'), textOf('plan-title'), textOf('plan-apply')]).toEqual([
      true,
      'Sure?',
      'Do it',
    ])
    expect(linesOf('plan-body')).toEqual(['p It is gone then.'])
    answer()
    expect(await answered).toBe(isYes)
    expect(isOpen('plan')).toBe(false)
  })

  test('does not take the yes of the question before', async () => {
    const first = ask()
    click('plan-apply')
    expect(await first).toBe(true)
    const second = ask()
    byId('plan', HTMLDialogElement).close()
    expect(await second).toBe(false)
  })

  test('that is answered listens to nothing any more', async () => {
    const first = ask('go')
    click('plan-cancel')
    await first
    const close = vi.spyOn(byId('plan', HTMLDialogElement), 'close')
    click('plan-apply')
    click('plan-cancel')
    type('plan-word', 'go')
    expect(close).not.toHaveBeenCalled()
    expect(find('plan-apply')).toHaveProperty('disabled', true)
  })

  test('with a word is open to who types it', async () => {
    const answered = ask('go')
    click('plan-apply')
    expect(isOpen('plan')).toBe(true)
    type('plan-word', 'go')
    click('plan-apply')
    expect(await answered).toBe(true)
  })
})

const PASS: WirePass = {
  pass: 'cleanup',
  dry_run: true,
  outcome: 'completed',
  started_at: isoOf(NOW),
  finished_at: isoOf(NOW),
  items: [],
  spared: {},
  rejected: [],
  error: null,
}

test('a plan lists what is to be done, and what is left and why', () => {
  const item = { provider: 'p', action: 'destroy', outcome: 'planned' }
  const items = [
    { ...item, id: 'a', reason: 'It is idle.' },
    { ...item, id: 'b', reason: 'It is lost.' },
  ]
  find('plan-body').replaceChildren(...planBody({ ...PASS, items, spared: { held: 3 } }))
  expect(linesOf('plan-body')).toEqual([
    'p 2 planned.',
    'h2 To be done (2)',
    'li a: destroy. It is idle.',
    'li b: destroy. It is lost.',
    'h2 Left as it is (1)',
    'li 3 left: held',
  ])
  expect(find('plan-body').querySelectorAll('ul > li')).toHaveLength(3)
  find('plan-body').replaceChildren(...planBody(PASS))
  expect(linesOf('plan-body')).toEqual(['p Nothing to do.'])
})

/** The client of a page whose server answers so; what is undefined is not found. */
function clientOf(answers: Readonly<Record<string, unknown>>): FleetClient {
  vi.stubGlobal('fetch', async (url: URL) => {
    const answer = answers[url.pathname.replace('/api/sandbox/', '')]
    const failure = { error: { message: 'not known' } }
    return Response.json(answer ?? failure, { status: answer === undefined ? 404 : 200 })
  })
  return new FleetClient('token', 'http://fleet.test/')
}

describe('the details', () => {
  const detail = {
    ...sandbox({
      id: 'a',
      agent_type: 'coder',
      findings: [
        { code: 'stuck', severity: 'critical', reason: 'It is stuck.', action: 'End it.' },
      ],
      last_error: { code: 'broken', message: 'no', cause: null, at: isoOf(NOW) },
    }),
    kill_detail: null,
    history: [
      { at: isoOf(NOW), event: 'provision', status: 'provisioning' },
      { at: isoOf(NOW + 1000), event: 'fail', status: 'failed', detail: 'because' },
    ],
  }

  const resources = { cpu_percent: 5, memory_mb: null, duration_ms: 1, operations: 0 }

  test('tell all that is known of one', async () => {
    const logs = { id: 'a', lines: ['first', 'second'], is_cut: false }
    await showDetail(
      clientOf({ a: detail, 'a/logs': logs, 'a/resources': resources }),
      'a',
      () => false,
    )
    expect([isOpen('detail'), textOf('detail-title')]).toEqual([true, 'a'])
    expect(document.activeElement?.id).toBe('detail-close')
    const { findings: _findings, history: _history, ...rest } = detail
    const facts = Object.entries(rest).filter(([, value]) => value !== null)
    const told = facts.flatMap(([name, value]) => [
      `dt ${name}`,
      `dd ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ])
    const lines = linesOf('detail-body')
    expect(lines.slice(0, -9).toSorted()).toEqual(told.toSorted())
    expect(lines.indexOf('dd coder')).toBe(lines.indexOf('dt agent_type') + 1)
    expect(lines.slice(-9)).toEqual([
      'dt stuck',
      'dd It is stuck. End it.',
      'h2 History',
      'li 2026-01-01T12:00:00.000Z provision → provisioning',
      'li 2026-01-01T12:00:01.000Z fail → failed because',
      'h2 Resources',
      `pre ${JSON.stringify(resources, undefined, 2)}`,
      'h2 Logs',
      'pre first\nsecond',
    ])
    expect(find('detail-body').querySelectorAll('ol > li')).toHaveLength(2)
    // Long texts are scrolled by keyboard.
    expect(find('detail-body').querySelectorAll('pre[tabindex="0"]')).toHaveLength(2)
    expect(find('detail-body').querySelectorAll('dt:not(.quiet)')).toHaveLength(0)
  })

  test('say what is cut, and what cannot be read', async () => {
    const logs = { id: 'a', lines: ['last'], is_cut: true }
    await showDetail(clientOf({ a: detail, 'a/logs': logs }), 'a', () => false)
    expect(linesOf('detail-body').slice(-4)).toEqual([
      'h2 Resources',
      'p Not available: RequestFailed: not known',
      'h2 Logs',
      'pre …\nlast',
    ])
    expect(find('detail-body').querySelectorAll('p.quiet')).toHaveLength(1)
  })

  test('of one that is not known are a failure', async () => {
    await expect(showDetail(clientOf({}), 'a', () => false)).rejects.toThrow('not known')
    expect(isOpen('detail')).toBe(false)
  })

  test('stay away when nobody waits for them any more, and when others are open', async () => {
    await showDetail(clientOf({ a: detail }), 'a', () => true)
    expect([isOpen('detail'), textOf('detail-title')]).toEqual([false, ''])
    await showDetail(clientOf({ a: detail, b: detail }), 'a', () => false)
    await showDetail(clientOf({ a: detail, b: detail }), 'b', () => false)
    expect(textOf('detail-title')).toBe('a')
  })
})
