import type {
  WireFailure,
  WireLogs,
  WirePass,
  WireResources,
  WireSandbox,
  WireSandboxDetail,
  WireStats,
  WireTermination,
} from '../../http/wire.ts'

const TIMEOUT_MS = 15_000
/** A pass over a large fleet takes minutes; abandoning the request would not stop it. */
const PASS_TIMEOUT_MS = 300_000
const PAGE = '200'
const NEXT_PAGE = /<(?<address>[^>]+)>;\s*rel="next"/

/** What the server answered when it did not do as asked. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  /** 0: the server could not be reached. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface Listing {
  readonly sandboxes: readonly WireSandbox[]
  /** False when there are more than a page can show. */
  readonly isComplete: boolean
}

/** The HTTP API, beside the page at an address. The token goes into a header, so no other site can act with it. */
export class FleetClient {
  readonly #base: URL
  readonly #token: string

  constructor(token: string, page: string) {
    this.#base = new URL('api/sandbox/', page)
    this.#token = token
  }

  stats(): Promise<WireStats> {
    return this.#ask('stats')
  }

  /** Follows the pages of a list, up to a bound. */
  async list(query: Readonly<Record<string, string>>, maxPages: number): Promise<Listing> {
    let next: URL | undefined = this.#address('list', { limit: PAGE, ...query })
    const sandboxes: WireSandbox[] = []
    for (let page = 0; next !== undefined && page < maxPages; page += 1) {
      const response = await this.#fetch(next, 'GET')
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server is our own
      sandboxes.push(...((await response.json()) as readonly WireSandbox[]))
      const address = NEXT_PAGE.exec(response.headers.get('Link') ?? '')?.groups?.address
      next = address === undefined ? undefined : new URL(address, next)
    }
    return { sandboxes, isComplete: next === undefined }
  }

  show(id: string): Promise<WireSandboxDetail> {
    return this.#ask(encodeURIComponent(id))
  }

  logs(id: string): Promise<WireLogs> {
    return this.#ask(`${encodeURIComponent(id)}/logs`)
  }

  resources(id: string): Promise<WireResources> {
    return this.#ask(`${encodeURIComponent(id)}/resources`)
  }

  /** Ends the life that was shown: what was made since then under the same id is left alone. */
  terminate({ id, generation }: Pick<WireSandbox, 'id' | 'generation'>): Promise<WireTermination> {
    return this.#ask(encodeURIComponent(id), 'DELETE', { generation: String(generation) })
  }

  run(pass: 'cleanup' | 'cleanup/emergency' | 'reconcile', dryRun: boolean): Promise<WirePass> {
    return this.#ask(pass, 'POST', { dry_run: String(dryRun) })
  }

  async #ask<T>(
    path: string,
    method: 'GET' | 'POST' | 'DELETE' = 'GET',
    query: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const response = await this.#fetch(this.#address(path, query), method)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server is our own
    return (await response.json()) as T
  }

  #address(path: string, query: Readonly<Record<string, string>> = {}): URL {
    const address = new URL(path, this.#base)
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
    return address
  }

  async #fetch(address: URL, method: string): Promise<Response> {
    if (address.origin !== this.#base.origin) throw new RequestFailed(0, 'a page of another server')
    const response = await fetch(address, {
      method,
      headers: { Authorization: `Bearer ${this.#token}` },
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(method === 'GET' ? TIMEOUT_MS : PASS_TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new RequestFailed(0, `The server cannot be reached: ${String(cause)}`)
    })
    if (!response.ok) throw new RequestFailed(response.status, await failureOf(response))
    return response
  }
}

async function failureOf(response: Response): Promise<string> {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by what follows
    const body = (await response.json()) as Partial<WireFailure>
    return body.error?.message ?? `The server answered ${response.status}.`
  } catch {
    // Not JSON: a proxy before the server answered.
    return `The server answered ${response.status}.`
  }
}
