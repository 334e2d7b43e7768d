// A file that is moved away while it is open is not written on in silence.
import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock } from '@helix-agents/core/testing'
import { openSqliteStores } from '@helix-agents/store-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from './temporary-directory.ts'

async function opened() {
  const path = join(temporaryDirectory(), 'agents.db')
  const clock = new ManualClock(1_700_000_000_000)
  const { stateStore, close } = await openSqliteStores(path, { clock })
  onTestFinished(close)
  let made = 0
  const write = async () => {
    made += 1
    const sessionId = `s${made}`
    return stateStore.createSession({ sessionId, agentType: 'a', customState: 1, now: clock.now() })
  }
  await write()
  return { path, clock, write }
}

test.each([
  ['moved', (path: string) => renameSync(path, `${path}.old`)],
  [
    'replaced by a copy',
    (path: string) => {
      copyFileSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
    },
  ],
])('a file that was %s is noticed within a second', async (_, change) => {
  const { path, clock, write } = await opened()
  change(path)
  await clock.advance(1000)
  for (const attempt of [write, write]) {
    await expect(attempt()).rejects.toMatchObject({
      name: 'StateStoreError',
      code: 'unavailable',
      message: expect.stringContaining('was moved, replaced or removed'),
    })
  }
})

test('a file that stays is written on', async () => {
  const { clock, write } = await opened()
  await clock.advance(5000)
  await expect(write()).resolves.toMatchObject({ sessionId: 's2' })
})
