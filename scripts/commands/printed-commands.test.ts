import { expect, test } from 'vitest'
import { trialOf } from './command-plan.ts'
import { commandsOf, printedFences } from './printed-commands.ts'

test('each printed command has a plan', () => {
  const unplanned = printedFences().flatMap(({ page, commands }) =>
    commands
      .filter(({ command, shown }) => shown.length === 0 && !/^(?:curl|\w+=)/.test(command))
      .filter(({ command }) => trialOf(page, command) === undefined)
      .map(({ command }) => `${page}: ${command}`),
  )
  expect(unplanned).toEqual([])
})

test('a transcript is its prompts and what they show', () => {
  expect(commandsOf('$ a # why\none\n\n$ b \\\n  c\n^C\n')).toEqual([
    { command: 'a', shown: ['one'] },
    { command: 'b c', shown: [] },
  ])
  expect(commandsOf('# only a comment\na --b\n')).toEqual([{ command: 'a --b', shown: [] }])
})
