// The page in a real browser.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent, type LLMAdapter, MockLLMAdapter, type StepInput } from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { serve, type ServerType } from '@hono/node-server'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createChatApp } from './app.ts'
import { bundlePage } from './bundle-page.ts'
import { findChromium } from './find-chromium.ts'

const executablePath = findChromium()
const ARGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking']

const bundled = bundlePage()
const CONTRASTS = readFileSync(join(import.meta.dirname, 'contrasts.js'), 'utf8')

interface Serving {
  readonly address: string
  readonly server: ServerType
}

async function serveChat(model: LLMAdapter): Promise<Serving> {
  const { stateStore, streamManager } = await openSqliteStores(':memory:')
  const executor = new JSAgentExecutor(stateStore, streamManager, model)
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'scripted' } })
  const { fetch } = createChatApp({ agent, executor, stateStore, page: await bundled })
  const listening = Promise.withResolvers<{ readonly port: number }>()
  const options = { fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }
  const server = serve(options, listening.resolve)
  return { server, address: `http://127.0.0.1:${(await listening.promise).port}/` }
}

/** Stops a model until it is opened, or the run is stopped. */
function createGate() {
  const begun = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  const pass = async ({ abortSignal }: StepInput): Promise<void> => {
    begun.resolve()
    abortSignal.addEventListener('abort', () => opened.reject(abortSignal.reason))
    await opened.promise
  }
  return { begun: begun.promise, open: () => opened.resolve(), pass }
}

const say = (content: string) => ({ type: 'text', content, shouldStop: true }) as const

// Skipped, with this title, where there is none.
describe.skipIf(executablePath === undefined)(
  'the page (needs chromium on PATH, or HELIX_CHROMIUM)',
  () => {
    let browser: Browser
    let page: Page
    let served: Serving
    const model = { steps: new MockLLMAdapter([]) }

    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: executablePath ?? '', args: ARGS })
    })
    afterAll(() => browser.close())
    beforeEach(async () => {
      served = await serveChat({ generateStep: (input) => model.steps.generateStep(input) })
      page = await browser.newPage({ viewport: { width: 800, height: 600 } })
    })
    afterEach(async () => {
      await page.close()
      served.server.close()
    })

    const box = () => page.getByRole('textbox', { name: 'What should I note?' })
    const log = () => page.getByRole('log', { name: 'Conversation' })
    const send = () => page.getByRole('button', { name: 'Send' })
    const stop = () => page.getByRole('button', { name: 'Stop' })
    const shown = async () =>
      (await log().getByRole('article').allInnerTexts()).map((text) => text.trim())

    test('begins empty, with examples; a turn is sent by the keyboard and survives a reload', async () => {
      model.steps = new MockLLMAdapter([say('Noted.'), say('Noted too.')])
      await page.goto(served.address)
      await page.getByText('Nothing is noted yet.').waitFor()
      expect(await box().getAttribute('placeholder')).toBe('What should I note?')
      // It has the focus, so that one can type at once; Shift+Enter is a new line.
      await page.keyboard.type('Buy oranges')
      await page.keyboard.press('Shift+Enter')
      await page.keyboard.type('and tea.')
      await page.keyboard.press('Enter')
      await log().getByText('Noted.').waitFor()
      expect(await shown()).toEqual(['Buy oranges\nand tea.', 'Noted.'])
      expect(await page.getByText('Nothing is noted yet.').isVisible()).toBe(false)
      await page.reload()
      await log().getByText('Noted.').waitFor()
      expect(await shown()).toEqual(['Buy oranges\nand tea.', 'Noted.'])
      await page.getByRole('link', { name: 'New chat' }).click()
      await page.getByRole('button', { name: 'Buy oranges.' }).click()
      await log().getByText('Noted too.').waitFor()
      expect(await shown()).toEqual(['Buy oranges.', 'Noted too.'])
    })

    test('an answer under way is shown after a reload, and stopped', async () => {
      const gate = createGate()
      model.steps = new MockLLMAdapter([
        async (input) => {
          input.callbacks.onTextDelta?.('I think')
          await gate.pass(input)
          return say('never')
        },
      ])
      await page.goto(served.address)
      await box().fill('Hi')
      await send().click()
      await page.getByRole('status').getByText('The agent is working.').waitFor()
      await log().getByText('I think').waitFor()
      expect(await log().getAttribute('aria-busy')).toBe('true')
      await page.reload()
      await log().getByText('I think').waitFor()
      expect(await shown()).toEqual(['Hi', 'I think'])
      await stop().click()
      await page.getByRole('status').getByText('Stopped.').waitFor()
      expect(await stop().isVisible()).toBe(false)
      expect(await shown()).toEqual(['Hi'])
    })

    test('what a model writes is no markup, and an error is said', async () => {
      model.steps = new MockLLMAdapter([say('<img src=x onerror="document.title=1">')])
      await page.goto(served.address)
      await box().fill('Hi')
      await send().click()
      await log().getByText('<img').waitFor()
      expect(await page.locator('img').count()).toBe(0)
      await box().fill('More')
      await send().click()
      await page.getByRole('alert').getByText(/./).waitFor()
      expect(await box().isEnabled()).toBe(true)
    })

    test('texts can be read in light and in dark', async () => {
      model.steps = new MockLLMAdapter([say('Noted.')])
      await page.goto(served.address)
      await box().fill('Hi')
      await send().click()
      await log().getByText('Noted.').waitFor()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate(CONTRASTS)).toEqual([])
      }
    })

    test('fits a phone: nothing is cut off, and buttons are large enough for a finger', async () => {
      const word = 'x'.repeat(200)
      model.steps = new MockLLMAdapter([say(word)])
      await page.setViewportSize({ width: 320, height: 568 })
      await page.goto(served.address)
      await box().fill('Hi')
      await send().click()
      await log().getByText(word).waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
      const { height = 0 } = (await send().boundingBox()) ?? {}
      expect(height).toBeGreaterThanOrEqual(44)
    })
  },
)
