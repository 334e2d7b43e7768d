import type { Authenticate } from '@helix-agents/runtime-cloudflare'

const encoder = new TextEncoder()

/** Accepts who has the token of the Worker; without a token, no request. */
export const authenticate: Authenticate<Cloudflare.Env> = async ({ headers }, { env }) => {
  const given = /^Bearer (?<token>.+)$/i.exec(headers.get('authorization') ?? '')?.groups?.token
  if (given === undefined || !env.RESEARCH_TOKEN) return null
  return (await isEqual(given, env.RESEARCH_TOKEN)) ? { userId: 'researcher' } : null
}

/** Takes the same time wherever the two differ, and whatever their lengths are. */
async function isEqual(a: string, b: string): Promise<boolean> {
  return crypto.subtle.timingSafeEqual(await digest(a), await digest(b))
}

function digest(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', encoder.encode(text))
}
