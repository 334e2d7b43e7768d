import { FleetError } from '@helix-agents/core/runtime'
import type { Context, MiddlewareHandler } from 'hono'
import { bodyOf } from './failures.ts'

/** Shorter ones can be guessed. */
export const MIN_TOKEN_LENGTH = 16

const LOCAL_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
const BEARER = /^Bearer +(?<token>[\x21-\x7e]+)$/i

/** Who may use the API. */
export interface AdminAccess<Env> {
  /**
   * Bearer tokens that open the API, each of at least 16 characters; several, while one is
   * replaced by the next.
   */
  readonly tokens: (env: Env) => readonly string[]
  readonly allowLocal: boolean
}

/**
 * Admits requests with a valid token. Without one the answer is 401, with another one 403. The comparison
 * takes the same time for every token. As nothing but the header counts, no other page can act in
 * the name of an operator; where no token is asked for, `Origin` must be that of the request.
 */
export function requireAdmin<Env extends object>({
  tokens,
  allowLocal,
}: AdminAccess<Env>): MiddlewareHandler<{ Bindings: Env }> {
  return async (context, next) => {
    if (isFromElsewhere(context)) return reject(context, 403, 'the request comes from another site')
    const given = BEARER.exec(context.req.header('Authorization') ?? '')?.groups?.token
    if (given === undefined) {
      if (allowLocal && LOCAL_HOSTS.has(new URL(context.req.url).hostname)) return next()
      context.header('WWW-Authenticate', 'Bearer realm="sandbox fleet"')
      return reject(context, 401, 'the admin token is missing')
    }
    if (await isOneOf(given, checkTokens(tokens(context.env)))) return next()
    return reject(context, 403, 'the admin token is wrong')
  }
}

function checkTokens(tokens: readonly string[]): readonly string[] {
  const weak = tokens.some((token) => token.length < MIN_TOKEN_LENGTH)
  if (tokens.length > 0 && !weak) return tokens
  const detail = `an admin token of at least ${MIN_TOKEN_LENGTH} characters is needed`
  throw new FleetError('config-invalid', detail)
}

function isFromElsewhere(context: Context): boolean {
  const site = context.req.header('Sec-Fetch-Site')
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const origin = context.req.header('Origin')
  return origin !== undefined && hostOf(origin) !== new URL(context.req.url).host
}

/** Its host alone: behind a proxy that ends TLS the server sees another protocol. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

/** Compares digests, all of them whole: neither length nor prefix of a token shows in the time. */
async function isOneOf(given: string, tokens: readonly string[]): Promise<boolean> {
  const wanted = await digest(given)
  let found = 0
  for (const token of tokens) found |= Number(isSame(await digest(token), wanted))
  return found === 1
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [index, byte] of a.entries()) difference |= byte ^ (b[index] ?? 0)
  return difference === 0
}

function reject(context: Context, status: 401 | 403, message: string): Response {
  return context.json(bodyOf(status === 401 ? 'unauthorized' : 'forbidden', message), status)
}
