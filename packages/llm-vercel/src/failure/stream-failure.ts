/** An error that a provider put into its stream; `cause` is what it put there. */
export class StreamFailure extends Error {
  override readonly name = 'StreamFailure'

  constructor(cause: unknown) {
    super('the provider reported an error in its stream', { cause })
  }
}
