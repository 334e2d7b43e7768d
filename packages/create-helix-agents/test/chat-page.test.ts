// The page of the template `chat` in a real browser.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const template = join(import.meta.dirname, '../templates/chat')
const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium'))
const executablePath = [process.env.HELIX_CHROMIUM, ...paths].find(
  (path) => path !== undefined && existsSync(path),
)

describe.skipIf(executablePath === undefined)(
  'the page of the chat (needs chromium on PATH, or HELIX_CHROMIUM)',
  () => {
    let folder: string
    let server: ChildProcess
    let browser: Browser
    let page: Page
    const visits: string[] = []

    beforeAll(async () => {
      // Beside the template, whose packages it uses.
      folder = mkdtempSync(join(template, '.data-test-'))
      for (const part of ['src', 'page', 'package.json']) {
        cpSync(join(template, part), join(folder, part), { recursive: true })
      }
      const args = ['--conditions=@helix-agents/source', 'src/server.ts']
      const env = { ...process.env, PORT: '0', MODEL: undefined }
      server = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 2] })
      const address = Promise.withResolvers<string>()
      let output = ''
      server.stdout?.on('data', (chunk: Buffer) => {
        output += String(chunk)
        const [found] = /http:\S+/.exec(output) ?? []
        if (found !== undefined) address.resolve(found)
      })
      server.once('exit', () => address.reject(new Error(output)))
      browser = await chromium.launch({
        executablePath: executablePath ?? '',
        args: ['--no-sandbox', '--disable-gpu', '--no-first-run'],
      })
      page = await browser.newPage({ viewport: { width: 390, height: 800 } })
      page.setDefaultTimeout(30_000)
      page.on('request', (request) => {
        if (request.isNavigationRequest()) visits.push(request.url())
      })
      await page.goto(await address.promise)
    }, 120_000)
    afterAll(async () => {
      await browser.close()
      const ended = once(server, 'exit')
      server.kill('SIGINT')
      await ended
      rmSync(folder, { recursive: true, force: true })
    })

    const log = () => page.getByRole('log', { name: 'Conversation' })
    const card = () => page.getByRole('region', { name: /^edit \/notes/ })
    const button = (name: string) => page.getByRole('button', { name })
    async function say(text: string): Promise<void> {
      await page.getByRole('textbox', { name: 'What should I note?' }).fill(text)
      await button('Send').click()
    }

    test('a change shows its diff, waits over a reload, and is edited, denied, stopped', async () => {
      await say('Buy oranges')
      await log().getByText('Notes so far: 1.').waitFor()
      // A second load would lose what is typed between the two.
      expect(visits).toHaveLength(1)
      await say('Change note 1 to Buy apples')
      await card().getByText('-Buy oranges').waitFor()
      expect(await button('Send').count()).toBe(0)
      await page.reload()
      await card().getByText('+Buy apples').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)

      await button('Edit').click()
      const editor = page.getByRole('textbox', { name: 'Input of the call, as JSON' })
      await editor.fill('{')
      expect(await button('Approve').isDisabled()).toBe(true)
      await editor.fill('{"path": 1}')
      await button('Approve').click()
      await page.getByRole('alert').getByText('input.path').waitFor()
      await button('Edit').click()
      expect(await editor.inputValue()).toBe('{\n  "path": 1\n}')
      const input = { path: '/notes/1.md', oldText: 'Buy oranges', newText: 'Buy pears' }
      await editor.fill(JSON.stringify(input))
      await button('Approve').click()
      await log().getByText('Changed.').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)

      await say('Change note 1 to Buy plums')
      await card().getByText('-Buy pears').waitFor()
      await page.getByRole('textbox', { name: 'Reason for a denial' }).fill('Not plums.')
      await button('Deny').click()
      await log().getByText('edit_file denied: Not plums.').waitFor()
      await log().getByText('Not changed:').waitFor()

      await say('Change note 1 to Buy kiwis')
      await card().waitFor()
      await button('Stop').click()
      await button('Send').waitFor()
      expect(await card().count()).toBe(0)
      await say('Call Ada')
      await log().getByText('Written down.').last().waitFor()
    }, 40_000)
  },
)
