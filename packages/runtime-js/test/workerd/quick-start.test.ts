import { expect, test } from 'vitest'
import worker from './worker.ts'

interface Answer {
  readonly result: { readonly status: string; readonly output: unknown }
  readonly chunks: readonly { readonly type: string; readonly success?: boolean }[]
}

test('the quick start runs unchanged', async () => {
  const response = await worker.fetch(new Request('https://example.com/'))
  const { result, chunks } = (await response.json()) as Answer
  expect(result).toMatchObject({ status: 'completed', output: 'Done.' })
  expect(chunks.map(({ type }) => type)).toEqual([
    'tool_start',
    'tool_end',
    'tool_start',
    'tool_end',
    'text_delta',
    'output',
  ])
  expect(chunks.filter(({ success }) => success === false)).toEqual([])
})
