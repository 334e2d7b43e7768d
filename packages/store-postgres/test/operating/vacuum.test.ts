import { expect, test } from 'vitest'
import { emptyPlace, opened, query } from '../opened.ts'
import { blocksOf } from './advice.ts'

test('the settings and queries for vacuum that the page advises', async () => {
  const url = await emptyPlace()
  await opened(url)
  for (const block of blocksOf('Vacuum', 'sql')) await query(url, block)
  const OPTIONS = "SELECT reloptions FROM pg_class WHERE oid = 'helix_sessions'::regclass"
  const reloptions = ['autovacuum_vacuum_scale_factor=0.02']
  expect(await query(url, OPTIONS)).toEqual([{ reloptions }])
})
