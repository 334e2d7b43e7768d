// The OpenAPI document is what clients are generated from: no word of it changes unnoticed.
import { expect, test } from 'vitest'
import { setup } from './harness.ts'

/** Each value of a document in a line, by its path. */
function linesOf(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [`${path} = ${JSON.stringify(value)}`]
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    return [`${path} = ${value.join(', ')}`]
  }
  return Object.entries(value).flatMap(([key, each]) => linesOf(each, `${path}/${key}`))
}

test('the document is the one that clients know', async () => {
  const document: unknown = await (await setup().ask('/openapi.json')).json()
  await expect(`${linesOf(document).join('\n')}\n`).toMatchFileSnapshot('openapi.txt')
})
