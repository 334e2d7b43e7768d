import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Agent,
  AgentAlreadyRunningError,
  HelixError,
  SessionError,
  StateStoreError,
} from '@helix-agents/core'
import type { SessionStateStore } from '@helix-agents/core/runtime'
import type { CliHost } from '../../../cli-host.ts'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'

/** What differs at one path of a workspace. */
export interface ChangedFile {
  readonly path: string
  readonly change: string
  readonly diff?: string
  readonly omitted?: string
}

/** What differs in one workspace. */
export interface ChangedWorkspace {
  readonly workspace: string
  readonly changes: readonly ChangedFile[]
  readonly total: number
}

/** What `openExecutor` of a module gives; `JSAgentExecutor` of `runtime-js` is such an executor. */
export interface HostedExecutor {
  diff(
    agent: Agent,
    sessionId: string,
    options: { readonly from: string; readonly to?: string; readonly workspace?: string },
  ): Promise<readonly ChangedWorkspace[]>
  restoreCheckpoint(
    agent: Agent,
    sessionId: string,
    checkpointId: string,
    options: { readonly files?: boolean | readonly string[] },
  ): Promise<{ readonly sessionId: string }>
  branch(
    agent: Agent,
    options: {
      readonly fromSessionId: string
      readonly checkpointId?: string
      readonly sessionId?: string
      readonly files?: 'checkpoint'
    },
  ): Promise<{ readonly sessionId: string }>
}

/** An executor, and what the command needs beside it. */
interface OpenedHost {
  readonly executor: HostedExecutor
  readonly stateStore: SessionStateStore
  readonly agents: readonly Agent[]
  /** Closes stores and providers. */
  readonly close?: () => Promise<void> | void
}

/** Option `--host`. */
export const HOST_OPTION = [
  '--host <module>',
  'JavaScript or TypeScript file that exports openExecutor',
] as const

export const HOST_HELP = `
The module of --host exports openExecutor(), with the providers and agents of your application:

  export async function openExecutor() {
    return { executor, stateStore, agents: [agent], close: () => stores.close() }
  }

A checkpoint is an id, as helix sessions show --checkpoints lists them, or ~n: n before the newest.`

/** A session and what can be done with it. */
export interface HostedSession {
  readonly executor: HostedExecutor
  readonly agent: Agent
  readonly sessionId: string
  /** The id of a checkpoint that is given as an id or as `~n`. */
  readonly checkpoint: (text: string) => Promise<string>
}

/**
 * Loads the module for one piece of work on a session.
 * @throws {CommandError} for a module that does not fit, and for errors of the framework.
 */
export async function withHostedSession<T>(
  host: CliHost,
  { file, sessionId }: { readonly file: string; readonly sessionId: string },
  work: (session: HostedSession) => Promise<T>,
): Promise<T> {
  const opened = await open(file, host)
  try {
    const { executor, stateStore } = opened
    const agent = await agentOf(opened, sessionId)
    const checkpoint = async (text: string): Promise<string> =>
      resolveCheckpoint(stateStore, sessionId, text)
    return await work({ executor, agent, sessionId, checkpoint })
  } catch (error) {
    throw HelixError.isInstance(error) ? toCommandError(error) : error
  } finally {
    await opened.close?.()
  }
}

async function open(file: string, host: CliHost): Promise<OpenedHost> {
  const path = resolve(file)
  if (!existsSync(path)) throw new CommandError(exitCodes.unreachable, `there is no file ${file}`)
  const { openExecutor } = await host.importModule(path)
  if (typeof openExecutor !== 'function') {
    throw new CommandError(exitCodes.usage, `${file} does not export a function openExecutor`)
  }
  const opened: unknown = await openExecutor()
  if (isOpened(opened)) return opened
  const shape = '{ executor, stateStore, agents, close }'
  throw new CommandError(exitCodes.usage, `openExecutor of ${file} must give ${shape}`)
}

function isOpened(value: unknown): value is OpenedHost {
  if (typeof value !== 'object' || value === null) return false
  return 'executor' in value && 'stateStore' in value && 'agents' in value
}

async function agentOf({ stateStore, agents }: OpenedHost, sessionId: string): Promise<Agent> {
  const session = await stateStore.loadSession(sessionId)
  if (session === null) throw new StateStoreError('not-found', sessionId, 'there is none')
  const agent = agents.find(({ name }) => name === session.agentType)
  if (agent !== undefined) return agent
  const reason = `the module has no agent ${session.agentType}, to which the session belongs`
  throw new CommandError(exitCodes.usage, reason)
}

async function resolveCheckpoint(
  store: SessionStateStore,
  sessionId: string,
  text: string,
): Promise<string> {
  if (!/^~\d{1,6}$/.test(text)) return text
  let left = Number(text.slice(1))
  let cursor: string | undefined
  do {
    const page = await store.listCheckpoints(sessionId, { ...(cursor !== undefined && { cursor }) })
    const found = page.items[left]
    if (found !== undefined) return found.id
    left -= page.items.length
    cursor = page.nextCursor
  } while (cursor !== undefined)
  throw new CommandError(exitCodes.unreachable, `the session has no checkpoint ${text}`)
}

const ABSENT: ReadonlySet<string> = new Set(['not-found', 'not-resumable', 'unavailable'])

function toCommandError(error: HelixError): CommandError {
  const { message, code, hint } = error
  const text = `${message} (${code})${hint === undefined ? '' : `\n${hint}`}`
  return new CommandError(exitCodeOf(error), text, { cause: error })
}

/** What runs, waits for a person, or has no files needs attention. */
function exitCodeOf(error: HelixError): number {
  const isKnown = SessionError.isInstance(error) || StateStoreError.isInstance(error)
  if (isKnown && ABSENT.has(error.code)) return exitCodes.unreachable
  if (AgentAlreadyRunningError.isInstance(error)) return exitCodes.findings
  return error.code === 'conflict' ? exitCodes.usage : exitCodes.findings
}
