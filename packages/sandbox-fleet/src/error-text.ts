/** What an error says, for a report. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error'
}
