import { type ToolCall, ToolInputError } from '@helix-agents/core'
import { describeContentProblem } from '@helix-agents/core/runtime'

/** Characters of the arguments that the model is shown. */
const SHOWN_CHARACTERS = 200

/** What a model reads of a call whose arguments cannot be read: why, and what to do. */
export function unreadableArguments({ arguments: given, problem }: ToolCall): ToolInputError {
  if (problem === 'too-deep' || problem === 'too-large') {
    const detail = `The arguments are ${describeContentProblem(problem)}.`
    return new ToolInputError('invalid-input', detail, {
      hint: 'Nothing was done. Say it in several calls with less in each.',
    })
  }
  const text = typeof given === 'string' ? given.slice(-SHOWN_CHARACTERS) : ''
  const end = text === '' ? 'they are empty' : `they end with ${JSON.stringify(text)}`
  if (problem === 'truncated') {
    const detail = `The arguments are cut off, since your answer was too long: ${end}.`
    return new ToolInputError('invalid-input', detail, {
      hint: 'Nothing was done. Say it in several calls with less in each.',
    })
  }
  return new ToolInputError('invalid-input', `The arguments are not valid JSON: ${end}.`, {
    hint: 'Nothing was done. Make the call again with one JSON object.',
  })
}
