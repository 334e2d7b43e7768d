import type { RegisterCommand } from './command-context.ts'
import { registerApprovals } from './approvals/approvals-command.ts'
import { registerFleet } from './fleet/fleet-command.ts'
import { registerHealthz } from './healthz/healthz-command.ts'
import { registerInit } from './init-command.ts'
import { registerReap } from './reap-command.ts'
import { registerSessions } from './sessions/sessions-command.ts'
import { registerSnapshots } from './snapshots/snapshots-command.ts'
import { registerWorker } from './worker/worker-command.ts'

/** Every command, in the order of the help text. A new one is a file or folder and a line here. */
export const registeredCommands: readonly RegisterCommand[] = [
  registerInit,
  registerSessions,
  registerApprovals,
  registerSnapshots,
  registerHealthz,
  registerFleet,
  registerReap,
  registerWorker,
]
