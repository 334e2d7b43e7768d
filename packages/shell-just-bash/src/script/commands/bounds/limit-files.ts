/** A program that writes here lets timers run, and ends when its command has ended. */
export const TURN_FILE = '/dev/helix-turn'
/** A program that writes here wants more fields than a line may have, and ends. */
export const FIELD_LIMIT_FILE = '/dev/helix-fields'
/** Fields of one line that `awk` makes. */
export const MAX_FIELDS = 20_000
