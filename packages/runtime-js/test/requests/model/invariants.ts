// What must hold of a session whatever happened to it.
import type { Message, ToolResultMessage } from '@helix-agents/core'
import type { SessionRequest } from '@helix-agents/core/runtime'
import type { World } from './world.ts'

/** What is wrong; empty when nothing is. */
export async function problemsOf(world: World): Promise<readonly string[]> {
  const requests = await world.requests()
  const { items: sessions } = await world.store.listSessions({ limit: 200 })
  const problems = [...problemsOfRequests(world, requests), ...problemsOfEffects(world, requests)]
  for (const { sessionId, status } of sessions) {
    const messages = await world.messagesOf(sessionId)
    if (status !== 'completed') problems.push(`${sessionId} is ${status}`)
    problems.push(...problemsOfCalls(world, sessionId, messages))
    if (sessionId === 's') problems.push(...problemsOfMessages(world, messages))
  }
  return problems
}

function problemsOfRequests(world: World, requests: readonly SessionRequest[]): string[] {
  const problems: string[] = []
  for (const request of requests) {
    const { resolution, requestId } = request
    const ran = countOf(world, request, textOf(request))
    if (resolution === undefined) problems.push(`${requestId} is open`)
    else if (resolution.decision !== 'approve' && ran > 0) {
      problems.push(`${request.toolName} ${request.arguments} ran: ${resolution.decision}`)
    }
    if (ran > 0 && request.startedAt === undefined) problems.push(`${requestId} was not started`)
  }
  return problems
}

/** Nothing runs twice, and nothing that always asks runs without having been approved. */
function problemsOfEffects(world: World, requests: readonly SessionRequest[]): string[] {
  const problems: string[] = []
  for (const [key, done] of world.effects) {
    const [, toolName] = key.split(' ')
    for (const args of toolName === 'look' ? [] : done) {
      if (done.filter((other) => other === args).length > 1) problems.push(`${key} ${args} twice`)
      if (!mustAsk(toolName, args)) continue
      const isApproved = requests.some(
        (request) =>
          `${request.askingSessionId} ${request.toolName}` === key &&
          request.resolution?.decision === 'approve' &&
          textOf(request) === args,
      )
      if (!isApproved) problems.push(`${key} ${args} ran without approval`)
    }
  }
  return problems
}

function mustAsk(toolName: string | undefined, args: string): boolean {
  const { n } = JSON.parse(args) as { n: number }
  return toolName === 'pay' || (toolName === 'maybe' && n % 2 === 1 && n < 1000)
}

/** Each call has one result, and one that says that it ran is true. */
function problemsOfCalls(world: World, sessionId: string, messages: readonly Message[]): string[] {
  const problems: string[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    const wanted = (message.toolCalls ?? []).map(({ id }) => id)
    const results = messages
      .slice(index + 1, index + 1 + wanted.length)
      .filter((one): one is ToolResultMessage => one.role === 'tool')
    const got = results.map(({ toolCallId }) => toolCallId)
    if (got.join() !== wanted.join()) problems.push(`${sessionId}: ${wanted.join()}, ${got.join()}`)
    problems.push(...results.flatMap((result) => problemsOfResult(world, sessionId, result)))
  }
  return problems
}

function problemsOfResult(world: World, sessionId: string, result: ToolResultMessage): string[] {
  const number = /done (\d+)$/.exec(contentOf(result))?.[1]
  if (result.isError === true || number === undefined || result.toolName === 'look') return []
  const done = world.effects.get(`${sessionId} ${result.toolName}`) ?? []
  return done.includes(`{"n":${number}}`) ? [] : [`${sessionId}: ${number} did not run`]
}

function contentOf({ content }: Message): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

/** Every message once; those of one delivery in the order in which they were sent. */
function problemsOfMessages(world: World, messages: readonly Message[]): string[] {
  const said = messages.filter(({ role }) => role === 'user').map(contentOf)
  // A process that died before it was stored has told its caller so.
  const problems = said.filter((text) => text === 'Go').length > 1 ? ['Go is there twice'] : []
  for (const kind of ['steer', 'followUp'] as const) {
    const sent = world.sent.filter(({ delivery }) => delivery === kind).map(({ text }) => text)
    const got = said.filter((text) => sent.includes(text))
    if (got.join() !== sent.join()) problems.push(`${kind}: sent ${sent.join()}, got ${got.join()}`)
  }
  return problems
}

/** The bytes that were approved. */
function textOf({ resolution, arguments: asked }: SessionRequest): string {
  const edited = resolution?.decision === 'approve' ? resolution.editedArguments : undefined
  return edited ?? asked
}

function countOf(world: World, request: SessionRequest, args: string): number {
  const done = world.effects.get(`${request.askingSessionId} ${request.toolName}`) ?? []
  return done.filter((one) => one === args).length
}
