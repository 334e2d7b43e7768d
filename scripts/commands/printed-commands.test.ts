import { expect, test } from 'vitest'
import { trialOf } from './command-plan.ts'
import { transcriptServers } from './play-transcript.ts'
import { commandsOf, hiddenCommands, printedFences } from './printed-commands.ts'

/** The commands of a transcript are typed to the server of its page. */
function isTyped(page: string, command: string): boolean {
  return transcriptServers.has(page) && /^(?:curl|\w+=)/.test(command)
}

test('each printed command has a plan', () => {
  const unplanned = printedFences().flatMap(({ page, commands }) =>
    commands
      .filter(({ command }) => trialOf(page, command) === undefined && !isTyped(page, command))
      .map(({ command }) => `${page}: ${command}`),
  )
  expect(unplanned).toEqual([])
})

test('a command stands in a fence that is run', () => {
  expect(hiddenCommands()).toEqual([])
})

test('a transcript is its prompts and what they show', () => {
  expect(commandsOf('$ a # why\none\n\n$ b \\\n  c\n^C\n')).toEqual([
    { command: 'a', shown: ['one'] },
    { command: 'b c', shown: [] },
  ])
  expect(commandsOf('# only a comment\na --b\n')).toEqual([{ command: 'a --b', shown: [] }])
})
