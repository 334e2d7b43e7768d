/** Has the processes of one command in hand. */
export interface ProcessHold {
  /**
   * Ends all of them.
   * @param graceMs Time between asking and killing; 0 kills at once.
   */
  end(graceMs: number): Promise<void>
  /**
   * Ends what a command left that ended by itself.
   * @param durationMs How long it ran.
   */
  endLeftovers(durationMs: number): Promise<void>
}
