import { type Clock, type Logger, noopLogger, systemClock } from '@helix-agents/core'
import type { UnreadableFile } from './prompt/unreadable-files.ts'

/** Settings of a `VercelAIAdapter`. */
export interface VercelAIAdapterOptions {
  /**
   * Further attempts of a call that failed in a way that may pass. `maxRetries` of an `LLMConfig`
   * goes before it. Default 3.
   */
  readonly maxRetries?: number
  /**
   * The longest wait that a provider may ask for between two attempts; one that asks for more ends
   * the step, and its error says how long. Default 60 000.
   */
  readonly maxRetryDelayMs?: number
  /**
   * An attempt fails when its provider says nothing for so long. Models that reason may be silent
   * for minutes. Default 300 000.
   */
  readonly idleTimeoutMs?: number
  /** An attempt fails when it takes longer. Default: no limit. */
  readonly attemptTimeoutMs?: number
  /**
   * Marks the system prompt and the end of the conversation for the prompt cache of providers that
   * want to be told (Anthropic, also on Bedrock, Vertex and gateways). Default true.
   */
  readonly promptCache?: boolean
  /** Gets the warnings of providers, such as settings that a model does not have. Default: none. */
  readonly logger?: Logger
  /**
   * Gets what a provider threw, as it is: with the prompt, the headers and what it wrote. For
   * looking into a problem; nothing else of this package lets them out.
   */
  readonly onProviderError?: (error: unknown) => void
  /**
   * Called once for each kind of file that a model turns out not to read. It gets a sentence in place
   * of such files, and the log a warning.
   */
  readonly onUnreadableFile?: (file: UnreadableFile) => void
  /** Time, for tests. Default: the time of the machine. */
  readonly clock?: Clock
  /** Numbers in [0, 1) that spread the attempts of many sessions, for tests. */
  readonly random?: () => number
}

/** The same with its defaults. */
export interface AdapterSettings {
  readonly maxRetries: number
  readonly maxRetryDelayMs: number
  readonly idleTimeoutMs: number
  readonly attemptTimeoutMs: number
  readonly promptCache: boolean
  readonly logger: Logger
  readonly onProviderError: (error: unknown) => void
  readonly onUnreadableFile: (file: UnreadableFile) => void
  readonly clock: Clock
  readonly random: () => number
}

/** @throws {RangeError} for a number that is no count or no time. */
export function parseOptions(options: VercelAIAdapterOptions): AdapterSettings {
  return {
    maxRetries: parseRetries(options.maxRetries ?? 3),
    maxRetryDelayMs: parseTime('maxRetryDelayMs', options.maxRetryDelayMs ?? 60_000),
    idleTimeoutMs: parseTime('idleTimeoutMs', options.idleTimeoutMs ?? 300_000),
    attemptTimeoutMs: parseTime('attemptTimeoutMs', options.attemptTimeoutMs ?? Infinity),
    promptCache: options.promptCache ?? true,
    ...parseListeners(options),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  }
}

function parseListeners({ logger, onProviderError, onUnreadableFile }: VercelAIAdapterOptions) {
  return {
    logger: logger ?? noopLogger,
    onProviderError: onProviderError ?? (() => {}),
    onUnreadableFile: onUnreadableFile ?? (() => {}),
  }
}

/** @throws {RangeError} */
export function parseRetries(maxRetries: number): number {
  if (Number.isSafeInteger(maxRetries) && maxRetries >= 0) return maxRetries
  throw new RangeError(`maxRetries must be a whole number from 0, not ${maxRetries}`)
}

function parseTime(name: string, ms: number): number {
  if (ms > 0) return ms
  throw new RangeError(`${name} must be a positive number of milliseconds, not ${ms}`)
}
