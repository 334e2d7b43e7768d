export type {
  CliHost,
  OpenedLedger,
  OpenedSessions,
  OpenedSnapshots,
  TextInput,
  TextStream,
} from './cli-host.ts'
export { exitCodes } from './exit-codes.ts'
export { createNodeHost } from './node-host.ts'
export { runCli } from './run-cli.ts'
