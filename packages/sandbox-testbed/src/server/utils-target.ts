import { accessSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { timestamp } from './server-sent-events.ts'
import { placementId, type SessionRequest } from './sessions/session-registry.ts'
import { ServiceTarget } from './service-target.ts'

/** The version of the server whose protocol this one speaks. */
const PROTOCOL_VERSION = '0.12.10'

/** `utils`: what the container is, and its sessions. */
export class UtilsTarget extends ServiceTarget {
  ping(): string {
    return 'healthy'
  }

  getVersion(): string {
    return process.env.HELIX_TESTBED_SERVER_VERSION ?? PROTOCOL_VERSION
  }

  /** The names of everything on the search path. */
  getCommands(): string[] {
    const directories = (process.env.PATH ?? '').split(':').filter((path) => path !== '')
    return [...new Set(directories.flatMap(executablesIn))].toSorted()
  }

  createSession(request: SessionRequest): object {
    const { id } = this.container.sessions.create(request)
    return {
      success: true,
      id,
      message: 'session created',
      timestamp: timestamp(),
      containerPlacementId: placementId(),
    }
  }

  async deleteSession(sessionId: string): Promise<object> {
    await this.container.sessions.delete(sessionId)
    return { success: true, sessionId, timestamp: timestamp() }
  }

  listSessions(): { readonly sessions: string[] } {
    return { sessions: this.container.sessions.list() }
  }
}

function executablesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => isExecutable(join(directory, name)))
  } catch {
    // Named on the search path and not there.
    return []
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
