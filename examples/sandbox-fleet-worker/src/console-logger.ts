import type { Logger } from '@helix-agents/core'

const write =
  (level: 'debug' | 'info' | 'warn' | 'error') =>
  (fields: object, message: string): void =>
    console[level](JSON.stringify({ level, message, ...fields }, readable))

/** One JSON object a line, as Workers Logs index them. */
export const consoleLogger: Logger = {
  debug: write('debug'),
  info: write('info'),
  warn: write('warn'),
  error: write('error'),
}

/** An error has no fields of its own that JSON would show. */
function readable(_key: string, value: unknown): unknown {
  return value instanceof Error ? { name: value.name, message: value.message } : value
}
