/** Exit codes of `helix`, for scheduled jobs. */
export const exitCodes = {
  /** Done, nothing wrong. */
  ok: 0,
  /** The command did its work and found something that needs attention. */
  findings: 1,
  /** The command line cannot be understood. */
  usage: 2,
  /** The subject of the command does not answer or does not exist. */
  unreachable: 3,
  /** A defect, or a failure of the machine such as a full disk. */
  failure: 70,
} as const
