// What the buttons of the page do: they ask first, one at a time, and say what came of it.
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { MINUTE_MS, TOKEN } from '../../http/harness.ts'
import { click, clickOf, find, isHidden, isOpen, OpenPage, textOf, type } from './page.ts'

const POLL = [
  'GET stats',
  'GET list?limit=200&status=active',
  'GET list?limit=200&status=terminated',
]

let page: OpenPage
beforeEach(async () => {
  page = new OpenPage()
  await page.harness.addLeaked('leaked')
  await page.harness.clock.advance(45 * MINUTE_MS)
  await page.harness.addLeaked('young')
  await page.load(TOKEN)
  page.requests.length = 0
})

async function press(id: string): Promise<void> {
  click(id)
  await page.settle()
}

async function pressOf(label: string): Promise<void> {
  clickOf(label)
  await page.settle()
}

const left = (): readonly string[] => [...page.harness.driver.sandboxes.keys()]
const isShown = (id: string): boolean => document.querySelector(`[data-id="${id}"]`) !== null

describe('terminating one', () => {
  test('asks first', async () => {
    await pressOf('Terminate leaked')
    expect([isOpen('plan'), textOf('plan-title')]).toEqual([true, 'Terminate leaked?'])
    expect(textOf('plan-body')).toBe(
      'Its processes end and its disk is lost. This cannot be undone.',
    )
    expect([textOf('plan-apply'), isHidden('plan-confirm')]).toEqual(['Terminate', true])
    await press('plan-cancel')
    expect([isOpen('plan'), page.requests, textOf('announcement')]).toEqual([false, [], ''])
    expect(left()).toEqual(['leaked', 'young'])
  })

  test('ends it, says so and shows it', async () => {
    await pressOf('Terminate leaked')
    await press('plan-apply')
    expect(left()).toEqual(['young'])
    expect(page.requests).toEqual(['DELETE leaked?generation=1', ...POLL])
    expect(textOf('announcement')).toBe('leaked: destroyed.')
    expect(isShown('leaked')).toBe(false)
  })

  test('shows it also when an older answer comes late', async () => {
    const gate = Promise.withResolvers<void>()
    page.answer = async (url, method) => {
      const response = await page.harness.ask(url.pathname.replace('/fleet', '') + url.search, {
        method,
      })
      if (method === 'GET') await gate.promise
      return response
    }
    vi.advanceTimersByTime(5000)
    await page.work()
    expect(page.requests).toEqual(POLL)
    clickOf('Terminate leaked')
    click('plan-apply')
    await page.work()
    gate.resolve()
    await page.settle()
    expect(page.requests).toEqual([...POLL, 'DELETE leaked?generation=1', ...POLL])
    expect(isShown('leaked')).toBe(false)
  })
})

describe.each([
  ['cleanup', 'cleanup', 'Clean up stuck and leaked sandboxes?', 'Clean up'],
  ['reconcile', 'reconcile', 'Bring the ledger in line with the providers?', 'Reconcile'],
  [
    'emergency',
    'cleanup/emergency',
    'Terminate every sandbox that is not critical?',
    'Terminate all',
  ],
])('the button %s', (button, pass, title, apply) => {
  test('shows the plan, and does nothing when it is not wanted', async () => {
    await press(button)
    expect(page.requests).toEqual([`POST ${pass}?dry_run=true`])
    expect([isOpen('plan'), textOf('plan-title')]).toEqual([true, title])
    expect(textOf('plan-apply')).toBe(apply)
    expect(find('plan-body').childElementCount).toBeGreaterThan(0)
    expect(document.activeElement?.id).toBe('plan-cancel')
    await press('plan-cancel')
    expect([isOpen('plan'), page.requests.length, left().length]).toEqual([false, 1, 2])
  })

  test('does what was planned, says so and shows it', async () => {
    await press(button)
    if (!isHidden('plan-confirm')) type('plan-word', 'terminate all')
    await press('plan-apply')
    expect(page.requests).toEqual([
      `POST ${pass}?dry_run=true`,
      `POST ${pass}?dry_run=false`,
      ...POLL,
    ])
    expect(textOf('announcement')).toMatch(/^(?:Nothing to do|1 destroyed)\.$/)
    expect(isShown('leaked')).toBe(left().includes('leaked'))
  })
})

test('the plan of a cleanup names what it ends', async () => {
  await press('cleanup')
  expect(textOf('plan-body')).toContain('leaked: destroy (idle)')
  await press('plan-apply')
  expect(left()).toEqual(['young'])
})

test('an emergency wants its word, and nothing else does', async () => {
  await press('emergency')
  const apply = find('plan-apply')
  expect(isHidden('plan-confirm')).toBe(false)
  expect(document.querySelector('#plan label')?.textContent).toBe('Type “terminate all” to go on')
  expect(apply).toHaveProperty('disabled', true)
  type('plan-word', 'terminate')
  expect(apply).toHaveProperty('disabled', true)
  type('plan-word', 'terminate all')
  expect(apply).toHaveProperty('disabled', false)
  await press('plan-cancel')
  // The word of before does not count for the next time.
  await press('emergency')
  expect([apply, find('plan-word')]).toMatchObject([{ disabled: true }, { value: '' }])
  await press('plan-cancel')
  await press('cleanup')
  expect([apply, isHidden('plan-confirm')]).toMatchObject([{ disabled: false }, true])
})

describe('one action at a time', () => {
  const SAID = 'Another action is under way.'

  test('another one waits for its question to be answered', async () => {
    await press('cleanup')
    await press('reconcile')
    await press('emergency')
    await pressOf('Terminate young')
    expect(page.requests).toEqual(['POST cleanup?dry_run=true'])
    expect([textOf('announcement'), textOf('plan-title')]).toEqual([
      SAID,
      'Clean up stuck and leaked sandboxes?',
    ])
    await press('plan-cancel')
    await press('reconcile')
    expect(textOf('plan-title')).toBe('Bring the ledger in line with the providers?')
  })

  test('and may begin when one has failed', async () => {
    page.answer = () => Response.json({ error: { message: 'not reached' } }, { status: 500 })
    await press('cleanup')
    expect([isHidden('alert'), textOf('alert')]).toEqual([false, 'not reached'])
    expect([isOpen('plan'), textOf('announcement')]).toEqual([false, ''])
    page.answer = () => undefined
    // What went wrong with an action stays until the next one.
    await page.pass(5000)
    expect([isHidden('alert'), textOf('alert')]).toEqual([false, 'not reached'])
    await press('reconcile')
    expect([isHidden('alert'), textOf('alert'), isOpen('plan')]).toEqual([true, '', true])
  })

  test('and may begin when somebody signs in again', async () => {
    await press('cleanup')
    click('sign-out')
    type('token', TOKEN)
    find('sign-in').dispatchEvent(new Event('submit', { cancelable: true }))
    await press('reconcile')
    expect([isOpen('plan'), textOf('announcement')]).toEqual([true, ''])
  })
})

describe('the details of one', () => {
  test('are shown until they are closed', async () => {
    await pressOf('Details of leaked')
    expect([isOpen('detail'), textOf('detail-title')]).toEqual([true, 'leaked'])
    expect(document.activeElement?.id).toBe('detail-close')
    expect(page.requests).toEqual(['GET leaked', 'GET leaked/logs', 'GET leaked/resources'])
    await press('detail-close')
    expect(isOpen('detail')).toBe(false)
  })

  test('that cannot be read are an alert', async () => {
    page.answer = () => Response.json({ error: { message: 'unknown' } }, { status: 404 })
    await pressOf('Details of leaked')
    expect([isOpen('detail'), textOf('alert')]).toEqual([false, 'unknown'])
  })

  test('that come when others are open, or after signing out, are not shown', async () => {
    const gate = Promise.withResolvers<void>()
    page.answer = async (url) => {
      await gate.promise
      return page.harness.ask(url.pathname.replace('/fleet', ''))
    }
    clickOf('Details of young')
    page.answer = () => undefined
    clickOf('Details of leaked')
    await page.work()
    gate.resolve()
    await page.settle()
    expect(textOf('detail-title')).toBe('leaked')
    await press('detail-close')
    clickOf('Details of young')
    click('sign-out')
    await page.settle()
    expect([isOpen('detail'), textOf('detail-title')]).toEqual([false, ''])
  })
})
