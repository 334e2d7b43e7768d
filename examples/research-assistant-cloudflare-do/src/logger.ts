import { createConsoleLogger } from '@helix-agents/telemetry/console'

/** One JSON object a line, as Workers Logs index them. */
export const logger = createConsoleLogger()
