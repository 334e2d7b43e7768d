export type { CliHost, OpenedSessions, TextStream } from './cli-host.ts'
export { exitCodes } from './exit-codes.ts'
export { createNodeHost } from './node-host.ts'
export { runCli } from './run-cli.ts'
