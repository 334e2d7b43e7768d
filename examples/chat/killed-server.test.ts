// The page in a real browser, and the server in a process that is killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UIMessage } from 'ai'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { CHROMIUM_ARGS, findChromium } from './find-chromium.ts'

const executablePath = findChromium()

/** The server as a process of its own. */
async function startServer(folder: string, port: number) {
  const args = ['--conditions=@helix-agents/source', join(import.meta.dirname, 'server.ts')]
  const env = { ...process.env, CHAT_FOLDER: folder, PORT: String(port), MODEL: '' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  let printed = ''
  for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    printed += String(text)
    if (/127\.0\.0\.1:\d+/.test(printed)) break
  }
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  return { port: Number(/127\.0\.0\.1:(\d+)/.exec(printed)?.[1]), kill }
}

// Skipped, with this title, where there is none.
test.skipIf(executablePath === undefined)(
  'a server is killed while it waits; another one goes on after the answer, once (needs chromium on PATH, or HELIX_CHROMIUM)',
  async () => {
    const browser = await chromium.launch({
      executablePath: executablePath ?? '',
      args: CHROMIUM_ARGS,
    })
    const page = await browser.newPage()
    const log = page.getByRole('log', { name: 'Conversation' })
    const box = page.getByRole('textbox', { name: 'What should I note?' })

    const folder = mkdtempSync(join(tmpdir(), 'helix-chat-page-'))
    const first = await startServer(folder, 0)
    const address = `http://127.0.0.1:${first.port}/#kept`
    await page.goto(address)
    await box.fill('Buy oranges.')
    await page.keyboard.press('Enter')
    await log.getByText('You have 1 note now.').waitFor()
    await box.fill('Change note 1 to Buy apples.')
    await page.keyboard.press('Enter')
    const diff = page.getByRole('region', { name: 'Changes' })
    await diff.waitFor()
    expect(await diff.innerText()).toMatch(/-Buy oranges\.\n+\+Buy apples\./)
    // The run has ended: nothing holds the chat.
    await page.locator('#messages[aria-busy=false]').waitFor()
    await first.kill()
    const second = await startServer(folder, first.port)
    try {
      await page.getByRole('button', { name: 'Approve' }).click()
      await log.getByText('I have changed the note.').waitFor()
      const { messages } = (await (
        await fetch(`${address.split('#')[0]}api/chat/kept`)
      ).json()) as {
        messages: UIMessage[]
      }
      const edits = messages
        .flatMap(({ parts }) => parts)
        .filter((part) => part.type === 'dynamic-tool' && part.toolName.endsWith('edit_file'))
      expect(edits).toMatchObject([{ state: 'output-available' }])
    } finally {
      await second.kill()
      await browser.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
  120_000,
)
