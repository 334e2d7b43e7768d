import { ModelError } from '@helix-agents/core'

const MAX_REDIRECTS = 5
/** The method and the body of the request stay. */
const KEEPING = new Set([307, 308])
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * `fetch` for model providers: a server that redirects to another origin gets nothing there. The
 * platform would send it the conversation and the key headers that it does not know, such as
 * `x-api-key` and `x-goog-api-key`. Redirects within an origin are followed, up to five, when they
 * keep the method. Give it to a provider as its `fetch`: `createAnthropic({ fetch: fetchWithinOrigin })`.
 *
 * @throws {ModelError} `invalid-request` for any other redirect; it names the host that was meant.
 */
export async function fetchWithinOrigin(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const first = new Request(input, init)
  let request = first
  for (let count = 0; ; count++) {
    // A body is sent once: each attempt has its own.
    const response = await fetch(request.clone(), { redirect: 'manual' })
    if (!REDIRECTS.has(response.status)) return response
    await response.body?.cancel()
    const target = targetOf(response, request.url)
    const isSame = target !== null && target.origin === new URL(first.url).origin
    if (!isSame || !KEEPING.has(response.status) || count === MAX_REDIRECTS) {
      throw redirected(request.url, target)
    }
    request = new Request(target, request)
  }
}

function targetOf({ headers }: Response, base: string): URL | null {
  const location = headers.get('location')
  return location === null ? null : URL.parse(location, base)
}

/** Paths and queries may hold keys. */
function redirected(from: string, target: URL | null): ModelError {
  const where = target === null ? 'nowhere' : `to ${target.origin}`
  const problem = `the model server ${new URL(from).origin} redirects ${where}, which is not followed`
  const hint = 'Set the address of the provider to where the server really is.'
  return new ModelError('invalid-request', { problem, hint })
}
