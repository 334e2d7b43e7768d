import type { Run } from '../ports.ts'

/** Finds the requests that an earlier run made for the step under way. */
export async function loadRequests(run: Run): Promise<void> {
  const { services, sessionId, requests } = run
  for (const request of await services.stateStore.loadRequests(sessionId)) {
    requests.byCall.set(request.toolCallId, request)
  }
}

/** Withdraws the open requests of a step that ends without them. */
export async function cancelRequests({ services, requests }: Run): Promise<void> {
  const resolution = { decision: 'cancelled', at: services.clock.now() } as const
  for (const { requestId, sessionId, resolution: answer } of requests.byCall.values()) {
    if (answer !== undefined) continue
    await services.stateStore.resolveRequest(sessionId, requestId, resolution)
  }
}
