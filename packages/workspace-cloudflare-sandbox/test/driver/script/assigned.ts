// What a script is given, as the line of it that assigns.

/** The assignments in front of a script. */
export function assignedBy(script: string, line = 0): string {
  return script.split('\n')[line] ?? ''
}
