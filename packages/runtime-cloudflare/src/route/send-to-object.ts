import { RequestError } from '../http/http-error.ts'
import { isWebSocketUpgrade } from './object-request.ts'

/**
 * Sends a request to an object. One that is moved or updated refuses what it had begun: what only
 * reads is sent again.
 * @throws {RequestError} 503
 */
export async function sendToObject(stub: DurableObjectStub, request: Request): Promise<Response> {
  const mayRepeat = request.method === 'GET' && !isWebSocketUpgrade(request)
  try {
    return await stub.fetch(mayRepeat ? request.clone() : request)
  } catch (error) {
    if (!isRetryable(error)) throw error
    if (mayRepeat) return stub.fetch(request)
    throw new RequestError(503, 'unavailable', 'the session is being moved: try again', {
      headers: { 'retry-after': '1' },
    })
  }
}

function isRetryable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const isOverloaded = 'overloaded' in error && error.overloaded === true
  return 'retryable' in error && error.retryable === true && !isOverloaded
}
