// The page in a real browser.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  defineAgent,
  defineTool,
  type LLMAdapter,
  MockLLMAdapter,
  type StepInput,
} from '@helix-agents/core'
import { JSAgentExecutor } from '@helix-agents/runtime-js'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { serve, type ServerType } from '@hono/node-server'
import { type Browser, chromium, type Page, type Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createChatApp } from './app.ts'
import { bundlePage } from './bundle-page.ts'
import { CHROMIUM_ARGS, findChromium } from './find-chromium.ts'

const executablePath = findChromium()

const bundled = bundlePage()
const CONTRASTS = readFileSync(join(import.meta.dirname, 'contrasts.js'), 'utf8')

interface Serving {
  readonly address: string
  readonly server: ServerType
}

/** What the tool `pay` has paid. */
const paid: unknown[] = []
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: (input) => void paid.push(input),
})

async function serveChat(model: LLMAdapter): Promise<Serving> {
  const { stateStore, streamManager } = await openSqliteStores(':memory:')
  const executor = new JSAgentExecutor(stateStore, streamManager, model)
  const agent = defineAgent({ name: 'a', llmConfig: { model: 'scripted' }, tools: [pay] })
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

const payFive = {
  type: 'tool_calls',
  content: 'I pay.',
  toolCalls: [{ id: '1', name: 'pay', arguments: { amount: 5 } }],
} as const
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
      browser = await chromium.launch({ executablePath: executablePath ?? '', args: CHROMIUM_ARGS })
      // A page of its own for each test takes longer than the test. What a page keeps is of an address,
      // and each test has another one.
      page = await browser.newPage()
      // Less than a test may take, so that what is missing is named.
      page.setDefaultTimeout(30_000)
    })
    afterAll(() => browser.close())
    beforeEach(async () => {
      served = await serveChat({ generateStep: (input) => model.steps.generateStep(input) })
      paid.length = 0
      await page.setViewportSize({ width: 800, height: 600 })
      await page.emulateMedia({ colorScheme: null })
    })
    afterEach(async () => {
      await page.goto('about:blank')
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
      const visits: string[] = []
      const onRequest = (request: Request): void => {
        if (request.isNavigationRequest()) visits.push(request.url())
      }
      page.on('request', onRequest)
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
      // A second load would lose what is typed between the two.
      expect(visits).toEqual([served.address])
      page.off('request', onRequest)
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
      await page.getByRole('status').getByText('The agent is working').waitFor()
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

    const card = (of = page) => of.getByRole('region', { name: 'pay' })
    const ask = async () => {
      model.steps = new MockLLMAdapter([payFive, say('Done.')])
      await page.goto(served.address)
      await box().fill('Pay.')
      await page.keyboard.press('Enter')
      await card().waitFor()
    }

    test('a call that waits is a card, also after a reload and on another page; approved by keyboard', async () => {
      await ask()
      await page.getByRole('status').getByText('The agent waits for you: 1 question.').waitFor()
      expect(await card().getByRole('region', { name: 'Details' }).innerText()).toContain(
        '"amount": 5',
      )
      expect(await send().isDisabled()).toBe(true)
      const address = page.url()
      await page.reload()
      await card().waitFor()
      const second = await browser.newPage()
      await second.goto(address)
      await card(second).waitFor()
      await page.bringToFront()
      await page.getByRole('button', { name: 'Approve' }).press('Enter')
      await log().getByText('Done.').waitFor()
      expect(paid).toEqual([{ amount: 5 }])
      expect(await shown()).toEqual(['Pay.', 'I pay.\n\n✓ pay\ndone\n\nDone.'])
      // The other page follows by itself, and has nothing left to answer.
      await second.getByRole('log').getByText('Done.').waitFor()
      expect(await card(second).count()).toBe(0)
      await second.close()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate(CONTRASTS)).toEqual([])
      }
    })

    test('a call is denied with a reason', async () => {
      await ask()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate(CONTRASTS)).toEqual([])
      }
      await page.getByRole('textbox', { name: 'Reason for a denial' }).fill('too much')
      await page.getByRole('button', { name: 'Deny' }).click()
      await log().getByText('Done.').waitFor()
      await log().getByText('denied: too much').waitFor()
      expect(paid).toEqual([])
    })

    test('a call is edited: what is not valid stays in its card, what is runs', async () => {
      await ask()
      await page.getByRole('button', { name: 'Edit' }).click()
      const editor = page.getByRole('textbox', { name: 'Input of the call, as JSON' })
      expect(await editor.evaluate((element) => element.matches(':focus'))).toBe(true)
      for (const [text, said] of [
        ['{', 'This is not JSON.'],
        ['{"amount":"x"}', 'input.amount'],
      ] as const) {
        await editor.fill(text)
        await page.getByRole('button', { name: 'Approve' }).click()
        await card().getByRole('alert').getByText(said).waitFor()
        expect(await editor.inputValue()).toBe(text)
      }
      await editor.fill('{"amount":3}')
      await page.getByRole('button', { name: 'Approve' }).click()
      await log().getByText('Done.').waitFor()
      expect(paid).toEqual([{ amount: 3 }])
    })

    test('what is said while the agent works reaches it before its next step', async () => {
      const gate = createGate()
      const read: unknown[] = []
      model.steps = new MockLLMAdapter([
        async (input) => {
          await gate.pass(input)
          return { type: 'tool_calls', toolCalls: [{ id: '1', name: 'missing', arguments: {} }] }
        },
        ({ messages }) => {
          read.push(messages.at(-1)?.content)
          return say('Green then.')
        },
      ])
      await page.goto(served.address)
      await box().fill('Paint it red.')
      await send().click()
      await gate.begun
      await box().fill('No, green.')
      await page.getByRole('button', { name: 'Steer' }).click()
      await page.getByRole('list', { name: 'Not read yet' }).getByText('No, green.').waitFor()
      gate.open()
      await log().getByText('Green then.').waitFor()
      expect(read).toEqual(['No, green.'])
      await log().getByText('No, green.').waitFor()
      expect(await page.getByRole('list', { name: 'Not read yet' }).innerText()).toBe('')
    })

    test('a chat that waits is stopped', async () => {
      await ask()
      await stop().click()
      await page.getByRole('status').getByText('Stopped.').waitFor()
      expect(await card().count()).toBe(0)
      expect(await send().isEnabled()).toBe(true)
      expect(paid).toEqual([])
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
