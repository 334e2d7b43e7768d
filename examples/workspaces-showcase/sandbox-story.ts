import type { MockStep } from '@helix-agents/core'
import {
  expectIn,
  finish,
  firstPart,
  results,
  runOften,
  says,
  showDiff,
  soakRounds,
  type Story,
  test,
  testPassed,
} from './story.ts'

/**
 * What the model does in a container: it has a shell, and knows that the disk goes with the
 * container. So it takes a snapshot before what takes long.
 *
 * @param mayOutlive the container may live on when workerd is killed.
 */
export function sandboxStory(mayOutlive: boolean): Story {
  const first = [...firstPart(true).slice(0, -1), takeSnapshot, writeNotes, soak]
  const goOn = [findOut, mayOutlive ? refreshNotes : restoreNotes, testOnceMore, showDiff, finish]
  return { first, second: [...first, ...goOn] }
}

const notes = 'Months are a twelfth of `y`.\n'

const takeSnapshot: MockStep = (input) => {
  expectIn(results(input), testPassed)
  return says('The disk of a container goes with it, so I take a snapshot now.', {
    tool: 'workspace__box__snapshot',
    input: {},
  })
}

const writeNotes: MockStep = (input) => {
  expectIn(results(input), '[snapshot taken]')
  return says('And notes for the next one: they are not in that snapshot.', noteCall())
}

const soak: MockStep = () => runOften()

const findOut: MockStep = (input) => {
  const seen = results(input)
  expectIn(seen, 'outcome-unknown')
  if (seen.includes(`round ${soakRounds}`)) throw new Error('the command survived its container')
  return says('The container was stopped in the middle of that. What is left of my work?', {
    tool: 'workspace__box__ls',
    input: { path: '/' },
  })
}

const restoreNotes: MockStep = (input) => {
  const seen = results(input)
  expectIn(seen, 'was restored')
  expectIn(seen, 'original')
  if (seen.includes('notes.md')) throw new Error('a file outlived its container')
  const content = 'The disk is gone, and what the snapshot had is back. My notes came after it:'
  return says(`${content} I write them again.`, noteCall())
}

const refreshNotes: MockStep = (input) => {
  const seen = results(input)
  expectIn(seen, 'original')
  if (seen.includes('was restored')) return restoreNotes(input)
  expectIn(seen, 'notes.md')
  return says('The container outlived its workerd, with all files. I check my notes.', noteCall())
}

const testOnceMore: MockStep = () => says('I run the test once more, here.', test())

function noteCall() {
  return { tool: 'workspace__box__write_file', input: { path: '/notes.md', content: notes } }
}
