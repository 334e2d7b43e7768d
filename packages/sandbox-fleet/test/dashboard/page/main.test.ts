// What the page does with the answers of the API, and when it asks.
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { MINUTE_MS, TOKEN } from '../../http/harness.ts'
import { click, clickOf, find, isHidden, isOpen, OpenPage, textOf, type } from './page.ts'

const POLL = [
  'GET stats',
  'GET list?limit=200&status=active',
  'GET list?limit=200&status=terminated',
]

const failure = (status: number, message: string): Response =>
  Response.json({ error: { code: 'x', message } }, { status })

const rows = (): readonly (string | undefined)[] =>
  Array.from(document.querySelectorAll<HTMLElement>('#rows tr'), (row) => row.dataset.id)

const summary = (): readonly string[] =>
  Array.from(document.querySelectorAll('#summary div'), (fact) =>
    Array.from(fact.children, ({ localName, textContent }) => `${localName} ${textContent}`).join(),
  )

let page: OpenPage
beforeEach(async () => {
  page = new OpenPage()
  await page.harness.addLeaked('leaked')
  await page.harness.clock.advance(45 * MINUTE_MS)
  await page.harness.addLeaked('young')
})

/** The page as somebody sees it who has signed in. */
async function signedIn(): Promise<void> {
  await page.load(TOKEN)
  page.requests.length = 0
}

function submitToken(token: string): Event {
  type('token', token)
  const submit = new Event('submit', { cancelable: true })
  find('sign-in').dispatchEvent(submit)
  return submit
}

const SIGNED_IN = ['fleet', 'pause', 'sign-out']

describe('signing in', () => {
  test('comes first: nothing is shown or asked before', async () => {
    await page.load()
    expect(isHidden('sign-in')).toBe(false)
    expect(SIGNED_IN.map(isHidden)).toEqual([true, true, true])
    expect(document.activeElement?.id).toBe('token')
    await page.pass(60_000)
    expect(page.requests).toEqual([])
    expect([isHidden('alert'), textOf('freshness')]).toEqual([true, ''])
  })

  test('keeps the token in this tab, and not in the field', async () => {
    await page.load()
    const submit = submitToken(` ${TOKEN}\n`)
    await page.settle()
    expect(submit.defaultPrevented).toBe(true)
    expect(sessionStorage.getItem('helix-fleet-token')).toBe(TOKEN)
    expect(find('token')).toHaveProperty('value', '')
    expect(isHidden('sign-in')).toBe(true)
    expect(SIGNED_IN.map(isHidden)).toEqual([false, false, false])
    expect(page.requests).toEqual(POLL)
  })

  test('is remembered by the tab', async () => {
    await page.load(TOKEN)
    expect(isHidden('sign-in')).toBe(true)
    expect(rows()).toEqual(['leaked', 'young'])
  })

  test.each([401, 403])('ends when the server answers %s', async (status) => {
    await signedIn()
    page.answer = () => failure(status, 'no')
    await page.pass(5000)
    expect(textOf('alert')).toBe('The server rejected the token.')
    expect([isHidden('alert'), isHidden('sign-in')]).toEqual([false, false])
    expect(sessionStorage.length).toBe(0)
    page.answer = () => undefined
    submitToken(TOKEN)
    await page.settle()
    expect([isHidden('alert'), textOf('alert')]).toEqual([true, ''])
  })
})

describe('signing out', () => {
  test('leaves nothing of the fleet on the page', async () => {
    await signedIn()
    click('cleanup')
    await page.settle()
    clickOf('Details of leaked')
    await page.settle()
    expect([isOpen('plan'), isOpen('detail')]).toEqual([true, true])
    click('sign-out')
    expect([isOpen('plan'), isOpen('detail')]).toEqual([false, false])
    const shown = [
      'summary',
      'activity',
      'activity-caption',
      'ages',
      'ages-caption',
      'freshness',
      'plan-title',
      'plan-body',
      'detail-title',
      'detail-body',
      'rows',
      'announcement',
      'alert',
    ]
    expect(shown.filter((id) => find(id).childNodes.length > 0)).toEqual([])
    expect(textOf('table-caption')).toBe('0 of 0 sandboxes')
    expect(SIGNED_IN.map(isHidden)).toEqual([true, true, true])
    expect([isHidden('sign-in'), isHidden('alert')]).toEqual([false, true])
    expect(document.activeElement?.id).toBe('token')
    expect(sessionStorage.length).toBe(0)
    await page.pass(60_000)
    expect(page.requests.slice(4)).toEqual([])
    expect(textOf('freshness')).toBe('')
  })

  test('takes back what was announced', async () => {
    await signedIn()
    click('cleanup')
    click('reconcile')
    expect(textOf('announcement')).toBe('Another action is under way.')
    click('sign-out')
    expect(textOf('announcement')).toBe('')
  })

  test.each([
    ['with the fleet', (): Response | undefined => undefined],
    ['with a failure', (): Response => failure(500, 'broken')],
    ['that the token is not valid', (): Response => failure(401, 'no')],
  ])('an answer %s that comes afterwards is not shown', async (_, answer) => {
    await signedIn()
    const gate = Promise.withResolvers<void>()
    page.answer = async (url) => {
      await gate.promise
      return answer() ?? page.harness.ask(url.pathname.replace('/fleet', '') + url.search)
    }
    vi.advanceTimersByTime(5000)
    await page.work()
    click('sign-out')
    gate.resolve()
    await page.settle()
    expect([rows(), textOf('summary'), textOf('freshness')]).toEqual([[], '', ''])
    expect([isHidden('alert'), isHidden('server-alert')]).toEqual([true, true])
  })

  test('a plan that comes afterwards asks nothing', async () => {
    await signedIn()
    const gate = Promise.withResolvers<void>()
    page.answer = async (url, method) => {
      await gate.promise
      return page.harness.ask(url.pathname.replace('/fleet', '') + url.search, { method })
    }
    click('cleanup')
    click('sign-out')
    gate.resolve()
    await page.settle()
    expect(isOpen('plan')).toBe(false)
  })
})

describe('the fleet', () => {
  test('is told in numbers', async () => {
    page.harness.driver.destroyFails = true
    await page.harness.addLeaked('owed')
    await page.harness.ask('/api/sandbox/owed', { method: 'DELETE' })
    await page.load(TOKEN)
    expect([textOf('environment'), isHidden('environment')]).toEqual(['test', false])
    expect(summary()).toEqual([
      'dt Active,dd 3',
      'dt Capacity used,dd 30 % of 10',
      'dt Provisioning,dd 0',
      'dt Terminating,dd 1',
      'dt Detached,dd 0',
      'dt Failed,dd 0',
      'dt Need attention,dd 3',
      'dt Created,dd 3',
      'dt Destroyed,dd 0',
      'dt Last cleanup,dd never',
    ])
    expect(textOf('activity-caption')).toBe('3 now, 3 at most.')
    expect(textOf('ages-caption')).toBe('3 active, 1 older than 10 min; the oldest is 45 min old.')
    const charts = document.querySelectorAll('#activity svg, #ages svg')
    expect(
      Array.from(charts, (chart) => chart.ariaLabel ?? chart.getAttribute('aria-label')),
    ).toEqual([textOf('activity-caption'), textOf('ages-caption')])
    expect(rows()).toHaveLength(3)
  })

  test('one that ends between the two lists is shown once', async () => {
    const before = await (await page.harness.ask('/api/sandbox/list?status=active')).text()
    await page.harness.ask('/api/sandbox/leaked', { method: 'DELETE' })
    page.answer = (url) =>
      url.searchParams.get('status') === 'active' ? new Response(before) : undefined
    await page.load(TOKEN)
    expect(textOf('table-caption')).toBe('1 of 2 sandboxes')
    expect(rows()).toEqual(['young'])
  })

  test('that is too large for the page is listed as far as the page goes, and says so', async () => {
    page.answer = (url) => {
      if (!url.pathname.endsWith('/list')) return undefined
      return Response.json([], { headers: { Link: `<${url.href}>; rel="next"` } })
    }
    await page.load(TOKEN)
    const count = (line: string | undefined): number =>
      page.requests.filter((request) => request === line).length
    expect(POLL.map(count)).toEqual([1, 10, 2])
    expect(isHidden('server-alert')).toBe(false)
    expect(textOf('server-alert')).toBe('There are more sandboxes than this page can list.')
    page.answer = () => undefined
    await page.pass(5000)
    expect([isHidden('server-alert'), textOf('server-alert')]).toEqual([true, ''])
  })
})

describe('time', () => {
  test('every five seconds the page asks again, and says how old it is', async () => {
    await signedIn()
    expect(textOf('freshness')).toBe('Updated 0 s ago')
    await page.pass(1000)
    expect(textOf('freshness')).toBe('Updated 1 s ago')
    await page.pass(3000)
    expect([page.requests, textOf('freshness')]).toEqual([[], 'Updated 4 s ago'])
    await page.pass(1000)
    expect([page.requests, textOf('freshness')]).toEqual([POLL, 'Updated 0 s ago'])
  })

  test('a paused page asks nothing until it goes on', async () => {
    await signedIn()
    click('pause')
    expect(find('pause').getAttribute('aria-pressed')).toBe('true')
    expect(textOf('freshness')).toBe('Updated 0 s ago, paused')
    await page.pass(60_000)
    expect([page.requests, textOf('freshness')]).toEqual([[], 'Updated 60 s ago, paused'])
    click('pause')
    expect(find('pause').getAttribute('aria-pressed')).toBe('false')
    expect(textOf('freshness')).toBe('Updated 60 s ago')
    await page.pass(1000)
    expect(page.requests).toEqual(POLL)
  })

  test('a page that nobody sees asks nothing', async () => {
    await signedIn()
    vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
    await page.pass(60_000)
    expect(page.requests).toEqual([])
  })

  test('a slow server is not asked twice at once', async () => {
    await signedIn()
    const gate = Promise.withResolvers<undefined>()
    page.answer = async () => (await gate.promise) ?? failure(500, 'slow')
    for (let second = 0; second < 30; second += 1) vi.advanceTimersByTime(1000)
    expect(page.requests).toEqual(POLL)
    gate.resolve(undefined)
    await page.settle()
    expect(textOf('server-alert')).toBe('slow')
    page.answer = () => undefined
    await page.pass(1000)
    expect([textOf('server-alert'), page.requests.length]).toEqual(['', 6])
  })

  test('a server that does not answer is named until it does', async () => {
    await signedIn()
    page.answer = () => {
      throw new TypeError('no route')
    }
    await page.pass(5000)
    const text = 'The server cannot be reached: TypeError: no route'
    expect([isHidden('server-alert'), textOf('server-alert')]).toEqual([false, text])
    expect(rows()).toEqual(['leaked', 'young'])
    const alert = find('server-alert').firstChild
    await page.pass(1000)
    // The same text again would be read aloud again.
    expect(find('server-alert').firstChild).toBe(alert)
    page.answer = () => undefined
    await page.pass(1000)
    expect([isHidden('server-alert'), textOf('server-alert')]).toEqual([true, ''])
  })
})
