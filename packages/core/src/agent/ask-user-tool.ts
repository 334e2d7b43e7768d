import * as z from 'zod'
import { ToolFailedError } from '../errors/tool-failed-error.ts'
import type { Tool } from '../tools/tool.ts'
import { renderForModel } from './render-for-model.ts'
import { defineInput } from './tool-input.ts'

/** Options of `askUserTool`. */
export interface AskUserToolOptions {
  /** Default: `ask_user`. */
  readonly name?: string
  /** For the model. Default: to ask when a decision is the user's and cannot be found out otherwise. */
  readonly description?: string
  /** Time to answer, in milliseconds; then the model is told so. Default: that of the agent. */
  readonly approvalTtlMs?: number
}

const MAX_ANSWER = 100_000
const DESCRIPTION =
  'Asks the user a question and waits for the answer. Use it when a decision is theirs, or when ' +
  'something is missing that you cannot find out yourself.'

const questionSchema = z.object({
  question: z.string().min(1).max(10_000),
  options: z.array(z.string().min(1).max(1000)).max(20).optional(),
})

/**
 * Makes a tool by which the model asks the user: a question, and answers to choose from. The call
 * waits as one for approval does; `respond` gives the answer as `{ output: 'text' }`, one of the
 * options or any other text.
 */
export function askUserTool(options: AskUserToolOptions = {}): Tool {
  const { name = 'ask_user', description = DESCRIPTION, approvalTtlMs } = options
  return Object.freeze({
    name,
    description,
    annotations: { readOnly: true, destructive: false, idempotent: false },
    ...defineInput(questionSchema),
    ...(approvalTtlMs !== undefined && { approvalTtlMs }),
    answeredBy: 'question',
    permission: {
      facts: { name, hasCommand: false, hasPaths: false },
      subject: () => ({ toolName: name }),
      resolve: async (subject) => subject,
      preview: async (input) => previewOf(questionSchema.parse(input)),
      basis: async () => undefined,
    },
    parseOutput: async (output) => {
      const isAnswer = typeof output === 'string' && output.length <= MAX_ANSWER
      if (isAnswer) return output
      throw new ToolFailedError(
        'tool-failed',
        `an answer is a text of at most ${MAX_ANSWER} characters`,
      )
    },
    execute: () =>
      Promise.reject(new ToolFailedError('tool-failed', 'this runtime does not ask users')),
    toModelOutput: renderForModel,
  } satisfies Tool)
}

function previewOf({ question, options = [] }: z.output<typeof questionSchema>) {
  const list = options.map((option) => `- ${option}`).join('\n')
  return { title: question, ...(list !== '' && { body: list }) }
}
