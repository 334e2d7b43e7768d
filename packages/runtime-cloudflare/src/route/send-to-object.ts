import { RequestError } from '../http/http-error.ts'
import { isWebSocketUpgrade } from './object-request.ts'

/** What the runtime says of a class without `fetch`. */
const NO_SERVER = /does not (?:export|define) a `?fetch\(\)/

/**
 * Sends a request to an object. One that is moved or updated refuses what it had begun: what only
 * reads is sent again.
 * @throws {RequestError} 503; 500 for an object that is no server.
 */
export async function sendToObject(stub: DurableObjectStub, request: Request): Promise<Response> {
  const mayRepeat = request.method === 'GET' && !isWebSocketUpgrade(request)
  try {
    return await stub.fetch(mayRepeat ? request.clone() : request)
  } catch (error) {
    if (NO_SERVER.test(String(error))) throw noServer()
    if (!isRetryable(error)) throw error
    if (mayRepeat) return stub.fetch(request)
    throw new RequestError(503, 'unavailable', 'the session is being moved: try again', {
      headers: { 'retry-after': '1' },
    })
  }
}

function noServer(): RequestError {
  const message =
    'the class of the Durable Object answers no requests: see class_name of the binding in' +
    ' wrangler.jsonc, which names a class made by createAgentServer'
  return new RequestError(500, 'class-invalid', message)
}

function isRetryable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const isOverloaded = 'overloaded' in error && error.overloaded === true
  return 'retryable' in error && error.retryable === true && !isOverloaded
}
