import { expect, test } from 'vitest'
import { createGate, say, type Script, use, waitTool } from '../scripts.ts'
import { crash, createSession, type TestSession } from '../session.ts'

interface Event {
  readonly id: number
  readonly event: string
  readonly data: { readonly type?: string; readonly [name: string]: unknown }
}

/** Reads server-sent events until `isLast`, or to the end of the response. */
async function readEvents(
  response: Response,
  isLast: (event: Event) => boolean = () => false,
): Promise<Event[]> {
  const events: Event[] = []
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
    if (done) return events
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      const data = field('data')
      if (data === undefined) continue
      const event = { id: Number(field('id')), event: field('event') ?? '', data: JSON.parse(data) }
      events.push(event)
      if (isLast(event)) {
        await reader.cancel()
        return events
      }
    }
  }
}

const stream = (session: TestSession, after?: number): Promise<Response> =>
  session.fetch('/stream', after === undefined ? {} : { headers: { 'last-event-id': `${after}` } })

test('a stream is server-sent events, and ends with the run', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  const response = await stream(session)
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const events = await readEvents(response)
  expect(events.map(({ event }) => event)).toEqual(['text_delta', 'output', 'end'])
  expect(events[0]!.data).toMatchObject({ type: 'text_delta', delta: 'hello', sequence: 1 })
})

test('a client that comes back after the end is told that there is no more', async () => {
  const session = createSession({ brain: () => say('hello') })
  await session.post('/start', { message: 'go' })
  await session.ended()
  const events = await readEvents(await stream(session))
  expect((await stream(session, events.at(-2)!.id)).status).toBe(204)
  const rest = await readEvents(await stream(session, events[0]!.id))
  expect(rest.map(({ event }) => event)).toEqual(['output', 'end'])
  const again = await readEvents(await stream(session, Number.NaN))
  expect(again).toEqual(events)
})

test('a client whose object was evicted comes back and misses nothing', async () => {
  const gates = [createGate(), createGate()]
  let waits = 0
  const script: Script = {
    tools: [waitTool({ ...gates[0]!, pass: (signal) => gates[waits++ > 0 ? 1 : 0]!.pass(signal) })],
    brain: (messages) => (messages.length === 1 ? use('wait', {}, 'w') : say('after')),
  }
  const session = createSession(script)
  await session.post('/start', { message: 'go' })
  const first = await readEvents(await stream(session), ({ event }) => event === 'tool_start')
  await gates[0]!.begun
  await crash()
  const reading = readEvents(await stream(session, first.at(-1)!.id))
  await gates[1]!.begun
  gates[1]!.open()
  const second = await reading
  expect(second.at(-1)!.event).toBe('end')
  const ids = [...first, ...second.slice(0, -1)].map(({ id }) => id)
  expect(ids).toEqual(ids.map((_, index) => index + 1))
  expect(second.map(({ event }) => event)).toEqual([
    // The tool only reads: it runs again.
    'tool_start',
    'tool_end',
    'text_delta',
    'output',
    'end',
  ])
})

test('a stream that breaks in the middle of a run has no end', async () => {
  const gate = createGate()
  const session = createSession({ tools: [waitTool(gate)], brain: () => use('wait') })
  await session.post('/start', { message: 'go' })
  const reading = readEvents(await stream(session))
  await gate.begun
  await crash()
  expect((await reading).map(({ event }) => event)).not.toContain('end')
})
