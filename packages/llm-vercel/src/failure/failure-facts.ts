import { isPlainWord } from './plain-word.ts'

/** What can be known of a failed call, whoever threw it. */
export interface FailureFacts {
  /** Name of the error class. */
  readonly name: string
  readonly status?: number
  /** Codes and types by which the provider names the failure, in lower case. */
  readonly codes: readonly string[]
  /** What the provider wrote. May quote keys and prompts: for looking into only. */
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
  readonly isRetryable?: boolean
  /** Scheme, host and port that were asked; the rest of an address may hold a key. */
  readonly origin?: string
  /** Codes of the network below, such as `ECONNRESET`. */
  readonly networkCodes: readonly string[]
}

const MAX_DEPTH = 5
const NETWORK_CODE = /^(E[A-Z]{3,}|UND_ERR_\w+|Connection\w+|FailedToOpenSocket)$/

/** Reads a failure: an error of the AI SDK, a payload of a provider, or any other error. */
export function readFailure(failure: unknown): FailureFacts {
  const chain = causesOf(failure)
  const [first] = chain
  const call = chain.find((one) => fieldOf(one, 'responseHeaders') !== undefined)
  const status = chain.map(statusOf).find((one) => one !== undefined)
  const isRetryable = chain.map(retryableOf).find((one) => one !== undefined)
  const origin = chain.map(originOf).find((one) => one !== undefined)
  return {
    name: nameOf(first),
    ...(status !== undefined && { status }),
    codes: chain.flatMap(codesOf),
    text: chain.map(textOf).join('\n').toLowerCase(),
    headers: headersOf(call),
    ...(isRetryable !== undefined && { isRetryable }),
    ...(origin !== undefined && { origin }),
    networkCodes: chain.flatMap(networkCodesOf),
  }
}

/** The failure and what caused it, the payloads of a provider among them. */
function causesOf(failure: unknown): readonly object[] {
  const found: object[] = []
  let current: unknown = failure
  while (typeof current === 'object' && current !== null && found.length < MAX_DEPTH) {
    found.push(current, ...payloadsOf(current))
    current = fieldOf(current, 'cause') ?? fieldOf(current, 'lastError')
  }
  if (typeof failure === 'string') found.push(new Error(failure))
  return found
}

/** `{ error: { … } }`, `{ response: { error: { … } } }`, and the data of an `APICallError`. */
function payloadsOf(value: object): readonly object[] {
  const data = fieldOf(value, 'data')
  const response = fieldOf(value, 'response')
  const nested = [data, fieldOf(value, 'error'), fieldOf(response, 'error'), fieldOf(data, 'error')]
  return nested.filter((one) => typeof one === 'object' && one !== null)
}

function statusOf(value: object): number | undefined {
  const named = ['statusCode', 'status_code', 'status', 'code'] as const
  return named.map((name) => toNumber(fieldOf(value, name))).find(isErrorStatus)
}

function toNumber(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
}

function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599
}

function retryableOf(value: object): boolean | undefined {
  const isRetryable = fieldOf(value, 'isRetryable')
  return typeof isRetryable === 'boolean' ? isRetryable : undefined
}

function originOf(value: object): string | undefined {
  const url = fieldOf(value, 'url')
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  const isWeb = parsed?.protocol === 'http:' || parsed?.protocol === 'https:'
  return isWeb ? parsed.origin : undefined
}

function codesOf(value: object): readonly string[] {
  const named = [fieldOf(value, 'type'), fieldOf(value, 'code'), fieldOf(value, 'status')]
  const texts = named.filter((code) => typeof code === 'string')
  // A status that is a text is told as one.
  const codes = texts.filter((code) => !NETWORK_CODE.test(code) && !isErrorStatus(Number(code)))
  return codes.map((code) => code.toLowerCase())
}

function networkCodesOf(value: object): readonly string[] {
  const code = fieldOf(value, 'code')
  return typeof code === 'string' && NETWORK_CODE.test(code) && isPlainWord(code) ? [code] : []
}

function textOf(value: object): string {
  const texts = [fieldOf(value, 'message'), fieldOf(value, 'responseBody')]
  return texts.filter((text) => typeof text === 'string').join('\n')
}

/** Of an error, its name; payloads have none. */
function nameOf(failure: unknown): string {
  const name = failure instanceof Error ? fieldOf(failure, 'name') : undefined
  return typeof name === 'string' ? name : 'ProviderError'
}

/** By names in lower case, as `fetch` gives them. */
function headersOf(call: unknown): Readonly<Record<string, string>> {
  const headers = fieldOf(call, 'responseHeaders')
  if (typeof headers !== 'object' || headers === null) return {}
  const found = namesOf(headers).map((name) => [name.toLowerCase(), fieldOf(headers, name)])
  return Object.fromEntries(found.filter(([, value]) => typeof value === 'string'))
}

function namesOf(value: object): readonly string[] {
  try {
    return Object.keys(value)
  } catch {
    return []
  }
}

/** What was thrown may be anything: a getter of it that throws says nothing. */
function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  try {
    return Reflect.get(value, name)
  } catch {
    return undefined
  }
}
