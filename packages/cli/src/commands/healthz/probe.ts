import {
  type HealthSignal,
  healthSignals,
  type WorkspaceDescription,
} from '@helix-agents/core/runtime'
import type { CliHost } from '../../cli-host.ts'
import { healthAnswerSchema } from './health-answer.ts'
import { readBody } from '../../http/read-body.ts'
import { explainIssues, parseJson, parseServerFailure } from '../../http/server-failure.ts'

/** Which endpoint to ask, and with which token. */
export interface HealthTarget {
  readonly url: URL
  readonly sessionId: string
  readonly token?: string
  readonly timeoutMs: number
}

/** Result of one probe. */
export type HealthProbe =
  | {
      readonly kind: 'answer'
      /** By the clock of the server where it sends one. */
      readonly now: number
      readonly workspaces: readonly WorkspaceDescription[]
      readonly signals: readonly HealthSignal[]
    }
  | { readonly kind: 'unreachable'; readonly reason: string }

const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** Servers that want their load balancer to see trouble answer 503 with the same body. */
const ANSWERING: readonly number[] = [200, 503]

/** Asks the endpoint once. Never throws for what the network or the server does. */
export async function probe(host: CliHost, target: HealthTarget): Promise<HealthProbe> {
  try {
    const response = await host.fetch(target.url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(target.timeoutMs),
      headers: {
        accept: 'application/json',
        ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
      },
    })
    return await toProbe(host, target, response)
  } catch (error) {
    return { kind: 'unreachable', reason: reasonOf(error, target) }
  }
}

async function toProbe(
  host: CliHost,
  target: HealthTarget,
  response: Response,
): Promise<HealthProbe> {
  const { status } = response
  if (!ANSWERING.includes(status)) {
    return { kind: 'unreachable', reason: await failureOf(response) }
  }
  const body = await readBody(response, MAX_ANSWER_BYTES)
  if (body === undefined) return { kind: 'unreachable', reason: 'the answer is too long' }
  const answer = healthAnswerSchema.safeParse(parseJson(body))
  if (!answer.success) {
    const reason = explainIssues(answer.error)
    const what = 'this is not the health of a session; --session appends an id to the address'
    return { kind: 'unreachable', reason: `${what}\n${reason}` }
  }
  const { workspaces } = answer.data
  const now = timeOf(response) ?? host.clock.now()
  const signals = healthSignals([{ sessionId: target.sessionId, workspaces }], now)
  return { kind: 'answer', now, workspaces, signals }
}

/** The times of the answer are those of the server: its clock may be another one than ours. */
function timeOf(response: Response): number | undefined {
  const at = Date.parse(response.headers.get('date') ?? '')
  return Number.isNaN(at) ? undefined : at
}

/** The error of a server of Helix as it says it, except where the status says what to do. */
async function failureOf(response: Response): Promise<string> {
  const { status } = response
  const isExplained = status < 400 || status === 401 || status === 403 || status === 404
  const failure = isExplained
    ? undefined
    : parseServerFailure((await readBody(response, MAX_ANSWER_BYTES)) ?? '')
  if (failure === undefined) {
    await response.body?.cancel()
    return `${explain(status)} (HTTP ${status})`
  }
  const { code, message, details } = failure
  return `${message} (${code}, HTTP ${status})${details === undefined ? '' : `\ndetails: ${details}`}`
}

function explain(status: number): string {
  if (status === 404) return 'no run of this session is active'
  if (status === 401 || status === 403) return 'the token is missing or rejected (--token-env)'
  return status >= 300 && status < 400 ? 'the server redirects' : 'the server does not answer'
}

function reasonOf(error: unknown, { timeoutMs }: HealthTarget): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`
  const { cause } = error
  return cause instanceof Error ? `${error.message}: ${cause.message || cause.name}` : error.message
}
