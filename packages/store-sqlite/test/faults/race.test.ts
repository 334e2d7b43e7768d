import { join } from 'node:path'
import { expect, test } from 'vitest'
import { opened } from '../script.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { spawnChild } from './child.ts'

test('processes that start at once make one database, and one of them gets the session', async () => {
  const path = join(temporaryDirectory(), 'new', 'race.db')
  const children = ['0', '1', '2', '3'].map((name) => spawnChild(['race', path, name]))
  for (const child of children) await child.next()
  for (const child of children) child.send('go')
  const answers = await Promise.all(children.map((child) => child.next()))
  const outcomes = (name: 'created' | 'claimed'): string[] =>
    answers.map((answer) => (answer as Record<string, string>)[name]!).toSorted()
  expect(outcomes('created')).toEqual(['conflict', 'conflict', 'conflict', 'ok'])
  const held = 'already-running'
  expect(outcomes('claimed')).toEqual([held, held, held, 'ok'])

  const { stateStore } = await opened(path)
  const winner = answers.findIndex((answer) => (answer as { claimed: string }).claimed === 'ok')
  expect((await stateStore.listRuns('s')).map((run) => run.runId)).toEqual([`run ${winner}`])
})
