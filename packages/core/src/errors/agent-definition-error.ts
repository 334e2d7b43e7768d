import { HelixError, type HelixErrorOptions } from './helix-error.ts'

/** An agent or tool definition is wrong. All problems are named at once. */
export class AgentDefinitionError extends HelixError {
  override readonly name = 'AgentDefinitionError'
  readonly code = 'definition-invalid'
  readonly transient = false
  readonly problems: readonly string[]

  constructor(subject: string, problems: readonly string[], options: HelixErrorOptions = {}) {
    super(`${subject} is not valid:\n${problems.map((line) => `- ${line}`).join('\n')}`, options)
    this.problems = problems
  }

  static override isInstance(value: unknown): value is AgentDefinitionError {
    return HelixError.isInstance(value) && value.name === 'AgentDefinitionError'
  }
}
