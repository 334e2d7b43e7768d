import { RequestError } from '../http/http-error.ts'

/** Which pages of other origins may talk to the sessions. */
export interface CorsOptions {
  /**
   * Such as `['https://app.example.com']`; `*` for every page, which is not for an `authenticate`
   * that relies on cookies.
   */
  readonly origins: string | readonly string[]
  /** Lets pages send cookies; not with `*`. Default false. */
  readonly allowCredentials?: boolean
  /** Headers that pages may send beside `authorization`, `content-type` and `last-event-id`. */
  readonly allowHeaders?: readonly string[]
}

const METHODS = 'GET, POST, DELETE'
const HEADERS = ['authorization', 'content-type', 'last-event-id']
const EXPOSED = 'location, retry-after'
const MAX_AGE_SECONDS = '7200'

/**
 * A text is no list: `includes` of it would find parts of an origin.
 * @throws {RequestError} 500 for what is neither `*` nor exact origins.
 */
export function assertCors({ origins }: CorsOptions): void {
  if (origins === '*') return
  for (const origin of listOf(origins)) {
    if (isOrigin(origin)) continue
    const message =
      `cors.origins: ${JSON.stringify(origin)} is no origin: write it as browsers send it, such as` +
      " 'https://app.example.com', without a path; or '*' alone for every page"
    throw new RequestError(500, 'cors-invalid', message)
  }
}

/**
 * Browsers send cookies with what a page of another site asks for, so that such a page could change
 * sessions or connect a WebSocket in the name of its reader.
 * @throws {RequestError} 403
 */
export function assertOriginMayWrite({ url, headers }: Request, cors?: CorsOptions): void {
  const origin = headers.get('origin')
  // Not sent by a page.
  if (origin === null) return
  const { host } = new URL(url)
  if (URL.canParse(origin) && new URL(origin).host === host) return
  if (cors?.origins === '*' || listOf(cors?.origins ?? []).includes(origin)) return
  const message = 'pages of this origin may not change the session: name it in cors.origins'
  throw new RequestError(403, 'origin-not-allowed', message)
}

function listOf(origins: CorsOptions['origins']): readonly string[] {
  return typeof origins === 'string' ? [origins] : origins
}

function isOrigin(text: unknown): boolean {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { origin } = new URL(text)
  // Of extensions of browsers and the like the platform knows no origin.
  return origin === 'null' ? /^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/.test(text) : origin === text
}

/** Whether a browser asks if it may send a request. Such a question carries no credentials. */
export function isPreflight({ method, headers }: Request): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method')
}

/** @throws {RequestError} 500 for options that no browser accepts. */
export function answerPreflight(request: Request, cors: CorsOptions): Response {
  const headers = new Headers(allowed(request, cors))
  if (headers.has('access-control-allow-origin')) {
    headers.set('access-control-allow-methods', METHODS)
    headers.set(
      'access-control-allow-headers',
      [...HEADERS, ...(cors.allowHeaders ?? [])].join(', '),
    )
    headers.set('access-control-max-age', MAX_AGE_SECONDS)
  }
  return new Response(null, { status: 204, headers })
}

/** The response as a page of another origin may read it. */
export function withCors(request: Request, response: Response, cors: CorsOptions): Response {
  if (response.webSocket) return response
  const open = new Response(response.body, response)
  for (const [name, value] of Object.entries(allowed(request, cors)))
    open.headers.append(name, value)
  if (open.headers.has('access-control-allow-origin')) {
    open.headers.set('access-control-expose-headers', EXPOSED)
  }
  return open
}

function allowed({ headers }: Request, cors: CorsOptions): Readonly<Record<string, string>> {
  const { origins, allowCredentials = false } = cors
  if (origins === '*') {
    if (!allowCredentials) return { 'access-control-allow-origin': '*' }
    const message = 'cors: credentials need a list of origins'
    throw new RequestError(500, 'cors-invalid', message)
  }
  const vary = { vary: 'Origin' }
  const origin = headers.get('origin')
  if (origin === null || !listOf(origins).includes(origin)) return vary
  const credentials = allowCredentials ? { 'access-control-allow-credentials': 'true' } : {}
  return { ...vary, 'access-control-allow-origin': origin, ...credentials }
}
