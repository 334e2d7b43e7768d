import { createRequestWebhook } from '@helix-agents/telemetry/webhook'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'

test('a Worker signs a notification', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const sent: Request[] = []
  const notify = createRequestWebhook({
    url: 'https://example.com/hook',
    secret,
    fetch: async (url, init) => {
      sent.push(new Request(url, init))
      return new Response(null, { status: 204 })
    },
  })
  await notify({
    requestId: 'r',
    sessionId: 's',
    askingSessionId: 's',
    agentPath: ['a'],
    kind: 'question',
    toolCallId: 'c',
    toolName: 'askUser',
    arguments: '{}',
    preview: { title: 'Which one?' },
    createdAt: 0,
  })
  const [request] = sent
  const headers = Object.fromEntries(request?.headers ?? [])
  const body = await request?.text()
  expect(new Webhook(secret).verify(body ?? '', headers)).toMatchObject({
    data: { requestId: 'r', preview: { title: 'Which one?' } },
  })
})
