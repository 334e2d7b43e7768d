// Requests, answers, queued messages and stops, between the other calls.
import type { RequestResolution, SessionRequest } from '@helix-agents/core/runtime'
import fc from 'fast-check'
import { type Call, calling, writing } from './calls.ts'
import * as values from './values.ts'

const requestId = fc.constantFrom('r1', 'r2', 'r3', 'r\ud800')
const messageId = fc.constantFrom('m1', 'm2', 'm\0')
const subject = fc.constantFrom('one', 'other')
const path = fc.array(values.text, { maxLength: 2 })

const request: fc.Arbitrary<Omit<SessionRequest, 'askingSessionId'>> = fc.record(
  {
    requestId,
    sessionId: values.sessionId,
    agentPath: path,
    kind: fc.constantFrom('approval' as const, 'question' as const),
    toolCallId: values.callId,
    toolName: values.text,
    arguments: values.text,
    preview: fc.record({ title: values.text, basis: values.value }, { requiredKeys: ['title'] }),
    subject,
    createdAt: values.now,
    expiresAt: values.now,
  },
  {
    requiredKeys: [
      'requestId',
      'sessionId',
      'agentPath',
      'kind',
      'toolCallId',
      'toolName',
      'arguments',
      'preview',
      'createdAt',
    ],
  },
)

/** Mostly for the session that asks. */
const isOwn = fc.boolean()

const resolution: fc.Arbitrary<RequestResolution> = fc.oneof(
  fc.record(
    {
      decision: fc.constant('approve' as const),
      remember: fc.constant('session' as const),
      editedArguments: values.text,
      by: values.text,
      at: values.now,
    },
    { requiredKeys: ['decision', 'at'] },
  ),
  fc.record({ decision: fc.constant('deny' as const), reason: values.text, at: values.now }),
  fc.record({ decision: fc.constant('output' as const), output: values.value, at: values.now }),
  fc.record({
    decision: fc.constantFrom('expired' as const, 'cancelled' as const),
    at: values.now,
  }),
)

const delivery = fc.constantFrom('steer' as const, 'followUp' as const)
const queued = fc.record({
  messageId,
  sessionId: values.sessionId,
  delivery,
  message: values.userMessage,
  createdAt: values.now,
})
const ids = fc.array(messageId, { maxLength: 3 })

function askedBy(
  one: Omit<SessionRequest, 'askingSessionId'>,
  asking: string,
  own: boolean,
): SessionRequest {
  return { ...one, askingSessionId: asking, ...(own && { sessionId: asking }) }
}

export const interactionCalls: readonly fc.WeightedArbitrary<Call>[] = [
  writing(
    5,
    fc.tuple(fc.array(request, { minLength: 1, maxLength: 2 }), isOwn),
    (store, write, [requests, own]) =>
      store.addRequests({
        ...write,
        requests: requests.map((one) => askedBy(one, write.sessionId, own)),
      }),
  ),
  calling(4, fc.tuple(values.sessionId, requestId, resolution), (store, given) =>
    store.resolveRequest(...given),
  ),
  writing(3, requestId, (store, write, id) => store.startRequest({ ...write, requestId: id })),
  writing(2, fc.tuple(requestId, request, isOwn), (store, write, [id, one, own]) =>
    store.replaceRequest({
      ...write,
      requestId: id,
      request: askedBy(one, write.sessionId, own),
    }),
  ),
  calling(1, fc.tuple(values.sessionId, requestId), (store, given) => store.getRequest(...given)),
  calling(1, fc.tuple(values.sessionId, subject), (store, given) => store.isRemembered(...given)),
  calling(3, queued, (store, message) => store.queueMessage(message)),
  writing(3, ids, (store, write, messageIds) => store.deliverMessages({ ...write, messageIds })),
  calling(1, fc.tuple(values.sessionId, messageId), (store, given) =>
    store.removeQueuedMessage(...given),
  ),
  calling(
    1,
    fc.tuple(values.sessionId, fc.constantFrom('interrupt' as const, 'abort' as const)),
    (store, given) => store.requestStop(...given),
  ),
  calling(1, values.sessionId, (store, id) => store.loadSignals(id)),
]
