import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InMemoryStateStore } from '@helix-agents/store-memory'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { providersThatSign, ReasoningStory, SIGNATURES } from './reasoning-story.ts'

describe.each(providersThatSign)('what %s signed goes back as it was', (provider) => {
  test('from memory', async () => {
    const story = new ReasoningStory(provider)
    const store = new InMemoryStateStore()
    await story.begin(store)
    await story.goOn(store)
    expect(story.signaturesSent()).toEqual(SIGNATURES)
  })

  test('from a file that was closed and opened again', async () => {
    const story = new ReasoningStory(provider)
    const folder = mkdtempSync(join(tmpdir(), 'helix-reasoning-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const part of ['begin', 'goOn'] as const) {
      const { close, stateStore } = await openSqliteStores(join(folder, 'sessions.db'))
      await story[part](stateStore)
      await close()
    }
    expect(story.signaturesSent()).toEqual(SIGNATURES)
  })

  test('and another provider gets none of it', async () => {
    const story = new ReasoningStory(provider)
    const store = new InMemoryStateStore()
    await story.begin(store)
    const other = new ReasoningStory(
      provider === 'anthropic messages' ? 'openai responses' : 'anthropic messages',
    )
    await other.goOn(store)
    expect(other.signaturesSent()).toEqual([])
  })
})
