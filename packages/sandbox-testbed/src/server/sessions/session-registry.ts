import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildGroups } from '../child-groups.ts'
import { NO_SESSION, type Variables, WORKSPACE } from '../environment.ts'
import { errnoOf, ServiceError } from '../service-error.ts'
import { spawnProblem } from '../spawn-problem.ts'
import { ShellSession } from './shell-session.ts'

export interface SessionRequest {
  readonly id: string
  readonly env?: Variables
  readonly cwd?: string
  readonly commandTimeoutMs?: number
}

/** The session shells of the container, by id. */
export class SessionRegistry {
  readonly #sessions = new Map<string, ShellSession>()
  readonly #directory: string
  readonly #groups: ChildGroups
  #counter = 0

  /** @param directory - Where sessions keep the output of their commands. */
  constructor(directory: string, groups: ChildGroups) {
    this.#directory = directory
    this.#groups = groups
  }

  /** @throws {ServiceError} `SESSION_ALREADY_EXISTS`. */
  create(request: SessionRequest): ShellSession {
    if (this.#sessions.get(request.id)?.alive === true) {
      throw new ServiceError('SESSION_ALREADY_EXISTS', `session ${request.id} already exists`, {
        sessionId: request.id,
        containerPlacementId: placementId(),
      })
    }
    this.#counter += 1
    const session = new ShellSession({
      ...request,
      directory: join(this.#directory, `session-${this.#counter}`),
      groups: this.#groups,
    })
    this.#sessions.set(request.id, session)
    void session.ended.then(() => this.#drop(session))
    return session
  }

  /** The session of that id; a missing or ended one is started afresh, without a word. */
  use(id: string): ShellSession {
    const known = this.#sessions.get(id)
    return known?.alive === true ? known : this.create({ id })
  }

  /** @throws {ServiceError} `INTERNAL_ERROR` for an unknown id. */
  async delete(id: string): Promise<void> {
    const session = this.#sessions.get(id)
    if (session === undefined) throw new ServiceError('INTERNAL_ERROR', `session ${id} not found`)
    this.#drop(session)
    await session.destroy()
  }

  list(): string[] {
    return [...this.#sessions.keys()]
  }

  /**
   * Does something where the commands of that session would run: between two of them, or, without
   * a session, in `/workspace`.
   * @throws {ServiceError} `COMMAND_EXECUTION_ERROR` when there is no session and no `/workspace`.
   */
  async at<T>(id: string, work: (cwd: string) => T | Promise<T>): Promise<T> {
    if (id !== NO_SESSION) return this.use(id).between(work)
    const problem = workspaceProblem()
    if (problem !== undefined) throw new ServiceError('COMMAND_EXECUTION_ERROR', problem)
    return work(WORKSPACE)
  }

  /** Where relative paths of that session lead, without waiting for a turn. */
  directoryOf(id: string): string {
    const session = this.#sessions.get(id)
    return session?.alive === true ? session.cwd : WORKSPACE
  }

  #drop(session: ShellSession): void {
    if (this.#sessions.get(session.id) === session) this.#sessions.delete(session.id)
  }
}

/** The platform's id of this container; there is none outside of it. */
export function placementId(): string | null {
  return process.env.CLOUDFLARE_PLACEMENT_ID ?? null
}

/** Why nothing can be spawned in `/workspace`. */
function workspaceProblem(): string | undefined {
  try {
    return statSync(WORKSPACE).isDirectory() ? undefined : spawnProblem('ENOTDIR')
  } catch (error) {
    return spawnProblem(errnoOf(error) ?? 'ENOENT')
  }
}
