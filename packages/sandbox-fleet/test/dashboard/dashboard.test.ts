import { serve, type ServerType } from '@hono/node-server'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Harness, MINUTE_MS, setup, TOKEN } from '../http/harness.ts'
import { findChromium } from './browser.ts'

/** The page asks every five seconds, and looks once a second whether it is time. */
const POLL_MS = 6000

function isActiveList(url: URL): boolean {
  return url.searchParams.get('status') === 'active'
}

const executablePath = findChromium()
// Skipped, with this title, where there is none.
describe.skipIf(executablePath === undefined)(
  'the dashboard (needs chromium on PATH, or HELIX_CHROMIUM)',
  () => {
    let browser: Browser
    let page: Page
    let server: ServerType
    let address: string
    let harness: Harness

    beforeAll(async () => {
      const path = executablePath ?? ''
      browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] })
      page = await browser.newPage()
      // Time passes when a test says so: nobody waits for the next poll.
      await page.clock.install()
    }, 120_000)
    afterAll(() => browser.close())

    beforeEach(async () => {
      harness = setup()
      await harness.addLeaked('leaked')
      await harness.clock.advance(45 * MINUTE_MS)
      await harness.addLeaked('young')
      const { fetch } = harness.app
      const listening = Promise.withResolvers<{ readonly port: number }>()
      server = serve(
        { fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false },
        listening.resolve,
      )
      address = `http://127.0.0.1:${(await listening.promise).port}/`
    })
    // Each test has a server, and with it an origin, of its own: nothing is left of the one before.
    afterEach(async () => {
      await page.unrouteAll()
      page.removeAllListeners()
      await page.goto('about:blank')
      server.close()
    })

    /** The page looks again. */
    async function poll(): Promise<void> {
      await page.clock.fastForward(POLL_MS)
    }

    async function signIn(token = TOKEN): Promise<void> {
      await page.goto(address)
      await page.getByLabel('Admin token').fill(token)
      await page.keyboard.press('Enter')
    }

    function row(id: string): ReturnType<Page['locator']> {
      return page.locator(`tr[data-id="${id}"]`)
    }

    test('asks for the token, and a wrong one shows nothing', async () => {
      await signIn('not-the-admin-token')
      await page.getByRole('alert').getByText('rejected the token').waitFor()
      expect(await page.locator('#fleet').isVisible()).toBe(false)
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    })

    test('shows what is stuck first, and why', async () => {
      await signIn()
      await row('leaked').waitFor()
      expect(await page.locator('tbody tr').first().getAttribute('data-id')).toBe('leaked')
      expect(await row('leaked').getAttribute('data-severity')).toBe('critical')
      expect(await row('leaked').textContent()).toContain('45 min')
      expect(await page.getByRole('img').count()).toBe(2)
      await page.getByLabel('Needs attention').focus()
      await page.getByLabel('Search').fill('you')
      expect(await page.locator('tbody tr').count()).toBe(1)
    })

    test('ends one by keyboard alone, after asking', async () => {
      await signIn()
      await row('leaked').getByRole('button', { name: 'Terminate leaked' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      // The harmless button has the focus: Enter alone ends nothing.
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      expect(harness.driver.sandboxes.has('leaked')).toBe(true)
      await row('leaked').getByRole('button', { name: 'Terminate leaked' }).press('Enter')
      await page.getByRole('button', { name: 'Terminate', exact: true }).press('Enter')
      await row('leaked').waitFor({ state: 'detached' })
      expect([...harness.driver.sandboxes.keys()]).toEqual(['young'])
      expect(await page.getByRole('status').textContent()).toBe('leaked: destroyed.')
    })

    test('plans a cleanup, and does nothing when the plan is not wanted', async () => {
      await signIn()
      await page.getByRole('button', { name: 'Clean up…' }).click()
      await page.getByText('leaked: destroy (idle)').waitFor()
      await page.keyboard.press('Escape')
      expect(harness.driver.sandboxes.size).toBe(2)
      await page.getByRole('button', { name: 'Clean up…' }).click()
      await page.getByRole('button', { name: 'Clean up', exact: true }).click()
      await row('leaked').waitFor({ state: 'detached' })
      expect([...harness.driver.sandboxes.keys()]).toEqual(['young'])
    })

    test('an emergency needs a word', async () => {
      await signIn()
      await page.getByRole('button', { name: 'Emergency…' }).click()
      const apply = page.getByRole('button', { name: 'Terminate all' })
      expect(await apply.isDisabled()).toBe(true)
      await page.getByLabel('Type “terminate all” to go on').fill('terminate all')
      await apply.click()
      await row('leaked').waitFor({ state: 'detached' })
      expect(harness.driver.sandboxes.size).toBe(1)
    })

    test('what a sandbox says is text, never markup, and nothing breaks the policy', async () => {
      const errors: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text())
      })
      page.on('pageerror', (error) => errors.push(error.message))
      harness.driver.logs = async () => '<img src=x onerror="document.title=1">\n'
      await signIn()
      await row('leaked').getByRole('button', { name: 'Details of leaked' }).click()
      await page.getByText('<img src=x').waitFor()
      expect(await page.locator('dialog img').count()).toBe(0)
      expect(await page.title()).toBe('Sandbox fleet')
      expect(errors).toEqual([])
    })

    test('focus stays where it was when the data changes', async () => {
      await signIn()
      const button = row('young').getByRole('button', { name: 'Details of young' })
      await button.focus()
      const before = await page.locator('#freshness').textContent()
      await harness.ask('/api/sandbox/leaked', { method: 'DELETE' })
      await poll()
      await row('leaked').waitFor({ state: 'detached' })
      expect(before).toBeTruthy()
      expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Details of young')
    }, 120_000)

    test('one action at a time: a plan that comes late does not take the place of another', async () => {
      const gate = Promise.withResolvers<void>()
      const passes: string[] = []
      await page.route('**/api/sandbox/cleanup**', async (route) => {
        passes.push(new URL(route.request().url()).pathname)
        await gate.promise
        await route.continue()
      })
      await signIn()
      await page.getByRole('button', { name: 'Clean up…' }).click()
      await page.getByRole('button', { name: 'Clean up…' }).click()
      await page.getByRole('button', { name: 'Emergency…' }).click()
      await row('young').getByRole('button', { name: 'Terminate young' }).click()
      expect(await page.getByRole('dialog').count()).toBe(0)
      gate.resolve()
      await page.getByText('leaked: destroy (idle)').waitFor()
      await page.getByRole('button', { name: 'Clean up', exact: true }).click()
      await row('leaked').waitFor({ state: 'detached' })
      expect(passes).toEqual(['/api/sandbox/cleanup', '/api/sandbox/cleanup'])
      expect([...harness.driver.sandboxes.keys()]).toEqual(['young'])
    }, 120_000)

    test('what was shown is what is ended: not what was made since then', async () => {
      await signIn()
      await row('leaked').waitFor()
      await page.getByRole('button', { name: 'Pause' }).click()
      await row('leaked').getByRole('button', { name: 'Terminate leaked' }).click()
      await harness.ask('/api/sandbox/leaked', { method: 'DELETE' })
      await harness.addLeaked('leaked')
      await page.getByRole('button', { name: 'Terminate', exact: true }).click()
      await page.getByText('leaked: gone.').waitFor({ state: 'attached' })
      expect(harness.driver.sandboxes.has('leaked')).toBe(true)
    }, 120_000)

    test('what an action has done is seen at once, also when an older answer comes late', async () => {
      await signIn()
      await row('leaked').waitFor()
      // From now on the page looks only when it is told to.
      await page.clock.pauseAt(await page.evaluate(() => Date.now() + 100))
      const gate = Promise.withResolvers<void>()
      const isHeld = Promise.withResolvers<void>()
      await page.route(isActiveList, async (route) => {
        const response = await route.fetch()
        isHeld.resolve()
        await gate.promise
        await route.fulfill({ response })
      })
      await poll()
      await isHeld.promise
      await row('leaked').getByRole('button', { name: 'Terminate leaked' }).click()
      await page.getByRole('button', { name: 'Terminate', exact: true }).click()
      await page.getByText('leaked: destroyed.').waitFor({ state: 'attached' })
      gate.resolve()
      await row('leaked').waitFor({ state: 'detached' })
      expect(harness.driver.sandboxes.has('leaked')).toBe(false)
      await page.clock.resume()
    }, 120_000)

    test('what went wrong with an action stays until it is read', async () => {
      await signIn()
      await page.route('**/api/sandbox/leaked?**', (route) =>
        route.fulfill({ status: 501, json: { error: { code: 'x', message: 'not reached' } } }),
      )
      await row('leaked').getByRole('button', { name: 'Terminate leaked' }).click()
      await page.getByRole('button', { name: 'Terminate', exact: true }).click()
      await page.getByRole('alert').getByText('not reached').waitFor()
      const answered = page.waitForResponse('**/api/sandbox/stats')
      await poll()
      await answered
      await page.getByText('Updated 0 s ago').waitFor()
      expect(await page.getByRole('alert').textContent()).toContain('not reached')
    }, 120_000)

    test('nothing is left on the page of who signs out, or whose token is taken back', async () => {
      await signIn()
      await row('leaked').getByRole('button', { name: 'Details of leaked' }).click()
      await page.getByText('first', { exact: false }).first().waitFor()
      await page.route('**/api/**', (route) =>
        route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'no' } } }),
      )
      await poll()
      await page.getByRole('alert').getByText('rejected the token').waitFor()
      expect(await page.content()).not.toContain('leaked')
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
      expect(await page.getByRole('dialog').count()).toBe(0)
    }, 120_000)

    test('every control has a name and every column a heading', async () => {
      await signIn()
      await row('leaked').waitFor()
      const nameless = await page.evaluate<string[]>(`
      [...document.querySelectorAll('button, input, select')]
        .filter((control) => !control.ariaLabel && !control.textContent.trim() && !control.labels?.length)
        .map((control) => control.outerHTML)
    `)
      expect(nameless).toEqual([])
      const heads = await page.locator('thead th').allTextContents()
      expect(heads.every((head) => head !== '')).toBe(true)
    })

    test('a phone shows everything without scrolling sideways, and cuts no label', async () => {
      await page.setViewportSize({ width: 390, height: 844 })
      await harness.addLeaked('a'.repeat(128))
      await signIn()
      await row('leaked').waitFor()
      const wide = await page.evaluate<string[]>(`
      [...document.querySelectorAll('header *, #fleet *')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible')
        .concat([...document.querySelectorAll('#fleet *')].filter((one) => {
          const { left, right, width } = one.getBoundingClientRect()
          return width > 0 && !one.closest('.for-screen-readers') && (left < 0 || right > innerWidth + 0.5)
        }))
        .map((one) => one.outerHTML.slice(0, 120))
    `)
      expect(wide).toEqual([])
      const cut = await page.evaluate<string[]>(`
      [...document.querySelectorAll('svg text')]
        .filter((text) => {
          const [own, all] = [text, text.closest('svg')].map((one) => one.getBoundingClientRect())
          return own.left < all.left - 0.5 || own.right > all.right + 0.5
        })
        .map((text) => text.textContent)
    `)
      expect(cut).toEqual([])
      await page.setViewportSize({ width: 1280, height: 720 })
    })

    test('as many need attention as its list has', async () => {
      await harness.addLeaked('owed')
      harness.driver.destroyFails = true
      await harness.ask('/api/sandbox/owed', { method: 'DELETE' })
      await harness.addLeaked('gone')
      harness.driver.destroyFails = false
      await harness.ask('/api/sandbox/gone', { method: 'DELETE' })
      await signIn()
      await row('leaked').waitFor()
      const need = page.locator('#summary div', { hasText: 'Need attention' }).locator('dd')
      await page.getByLabel('Needs attention').check()
      expect([await need.textContent(), await page.locator('tbody tr').count()]).toEqual(['3', 3])
      await page.getByLabel('Status').selectOption('all')
      expect(await page.locator('tbody tr').count()).toBe(3)
    })

    test('a server that goes away is said, and coming back is seen', async () => {
      await signIn()
      await row('leaked').waitFor()
      await page.route('**/api/**', (route) => route.abort())
      await poll()
      await page.getByRole('alert').getByText('cannot be reached').waitFor()
      await page.unroute('**/api/**')
      await poll()
      await page.locator('#server-alert').waitFor({ state: 'hidden' })
      expect(await row('leaked').isVisible()).toBe(true)
    }, 120_000)
  },
)
