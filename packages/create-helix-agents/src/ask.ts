import type { Readable, Writable } from 'node:stream'
import { isCancel, select, text } from '@clack/prompts'
import { CreateError } from './create-error.ts'
import { nameOfFolder, nameProblem } from './project-name.ts'
import type { Template } from './templates.ts'

/** A terminal with a person. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
  readonly signal: AbortSignal
}

/** Where the project goes. @throws {CreateError} `interrupted` */
export async function askFolder(terminal: Terminal): Promise<string> {
  const answer = await text({
    ...terminal,
    message: 'Where should the project go?',
    placeholder: DEFAULT_FOLDER,
    defaultValue: DEFAULT_FOLDER,
    validate: (folder) => nameProblem(nameOfFolder(folder ?? '')),
  })
  if (isCancel(answer)) throw cancelled()
  return answer
}

/** Which template it begins with. @throws {CreateError} `interrupted` */
export async function askTemplate(
  terminal: Terminal,
  templates: readonly Template[],
): Promise<string> {
  const answer = await select({
    ...terminal,
    message: 'What should it be?',
    options: templates.map(({ name, description }) => ({
      value: name,
      label: name,
      hint: description,
    })),
  })
  if (isCancel(answer)) throw cancelled()
  return answer
}

/** Where a project goes that nobody has named. */
export const DEFAULT_FOLDER = 'my-agent'

function cancelled(): CreateError {
  return new CreateError('interrupted', 'interrupted')
}
