// The cost of a schema grows with the values that it checks: too many are rejected before.
import { ToolInputError } from '@helix-agents/core'
import { contentLimits } from '@helix-agents/core/runtime'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { parseToolInput } from '../../src/tools/input/parse-tool-input.ts'

const { maxArgumentFields, maxArgumentValues } = contentLimits

/** What is said of the arguments: `checked` when the schema saw them. */
function outcomeOf(input: unknown): string {
  let checks = 0
  const schema = z.looseObject({}).refine(() => (checks += 1) > 0)
  try {
    void parseToolInput(schema, input, () => ({}))
    return 'checked'
  } catch (error) {
    if (checks > 0 || !ToolInputError.isInstance(error)) throw error
    return `${error.code}: ${error.message}`
  }
}

const fields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, at]))
const list = (length: number) => ({ list: Array.from({ length }, () => 0) })

const tooMany = new RegExp(
  `^invalid-input: .*${maxArgumentFields} fields.*${maxArgumentValues} values`,
)

test('`maxArgumentFields` is a limit of one object, wherever it stands', () => {
  expect(outcomeOf(fields(maxArgumentFields))).toBe('checked')
  expect(outcomeOf(fields(maxArgumentFields + 1))).toMatch(tooMany)
  expect(outcomeOf({ deep: [{ deeper: fields(maxArgumentFields + 1) }] })).toMatch(tooMany)
})

test('`maxArgumentValues` is a limit of all values together', () => {
  expect(outcomeOf(list(maxArgumentValues - 1))).toBe('checked')
  expect(outcomeOf(list(maxArgumentValues))).toMatch(tooMany)
  const halves = [list(maxArgumentValues / 2), list(maxArgumentValues / 2)]
  expect(outcomeOf({ halves })).toMatch(tooMany)
})
