/** The sub-agent was interrupted or waits for a person: its call has no result yet. */
export class SubAgentPaused extends Error {
  override readonly name = 'SubAgentPaused'
  readonly end: 'interrupted' | 'waiting'

  constructor(end: 'interrupted' | 'waiting') {
    super(`the sub-agent is ${end}`)
    this.end = end
  }
}
