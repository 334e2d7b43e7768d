/** The logger the framework writes to. A pino logger fits as it is. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const silent = (): void => {}

/** Drops every line. */
export const noopLogger: Logger = { debug: silent, info: silent, warn: silent, error: silent }
