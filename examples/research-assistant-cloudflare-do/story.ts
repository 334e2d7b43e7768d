import { readFileSync } from 'node:fs'
import type { SequencedChunk } from '@helix-agents/core/runtime'
import { ResearchClient } from './client.ts'
import { findServer, type LocalServer, localToken, logFile, waitFor } from './local-server.ts'
import { killWorkerOf } from './local-worker.ts'
import { Narrator } from './narrator.ts'

type Tell = (line: string) => void

const question = 'Why does row C yield less since 2033, and what should be done?'
/** Words of the model; workerd is killed when it has said them. */
const CUT_AFTER = 'A sandbank has come '
/** And the health is looked at: the note before was written by the second instance. */
const LOOK_AFTER = 'I read breakwater-works '
const RESTART_MS = 120_000
const RESUME_MS = 120_000

/**
 * Plays the story of README.md with the Worker that runs on the folder.
 * @throws {Error} when a step differs from the story.
 */
export async function playStory(folder: string, tell: Tell): Promise<void> {
  const server = findServer(folder)
  if (server === undefined) throw new Error('no Worker is running: use the script "start" first')
  const sessionId = `story-${crypto.randomUUID()}`
  const client = new ResearchClient(server.url, sessionId, localToken)
  await showRefusal(server, sessionId, tell)

  tell(`user   ${question}`)
  await client.start(question)
  const before = await watchUntilCut(client, () => killWorkerOf(folder, server.pid), tell)

  await becomesAlive(folder, server, sessionId)
  tell('workerd is started again on the same folder')
  tell('no request was sent to it: the research resumes by itself')
  const after = await watchToEnd(client, before.at(-1)?.sequence, tell)
  checkStream([...before, ...after])
  tell('every event was seen once, over both connections')
  await showNotes(client, tell)
}

async function showRefusal({ url }: LocalServer, sessionId: string, tell: Tell): Promise<void> {
  const stranger = new ResearchClient(url, sessionId)
  const { status } = await stranger.fetch('/state')
  expect(status === 401, `a stranger gets ${status}`)
  tell(`  GET /state    ${status} without the token`)
}

/** Follows the run to the middle of a sentence, and kills workerd there. */
async function watchUntilCut(
  client: ResearchClient,
  crash: () => void,
  tell: Tell,
): Promise<readonly SequencedChunk[]> {
  const narrator = new Narrator(tell)
  const seen: SequencedChunk[] = []
  let isCut = false
  for await (const chunk of client.stream()) {
    // What was on its way already counts as seen.
    seen.push(chunk)
    if (isCut) continue
    narrator.show(chunk)
    if (narrator.text !== CUT_AFTER) continue
    await showHealth(client, 'created', tell)
    crash()
    narrator.cut()
    tell('kill -9: workerd is gone')
    isCut = true
  }
  expect(isCut, 'the run has ended before it could be cut')
  return seen
}

/** The supervisor has started workerd again, and the alarm of the object has rung. */
async function becomesAlive(folder: string, old: LocalServer, sessionId: string): Promise<void> {
  const isNew = (): true | undefined => {
    const pid = findServer(folder)?.pid
    return pid !== undefined && pid !== old.pid ? true : undefined
  }
  await waitFor('workerd to start again', isNew, RESTART_MS)
  const goesOn = (): string | undefined => {
    const lines = readFileSync(logFile(folder), 'utf8').split('\n')
    return lines.find(
      (line) => line.includes('run resumed in a new instance') && line.includes(sessionId),
    )
  }
  await waitFor('the alarm', goesOn, RESUME_MS)
}

async function watchToEnd(
  client: ResearchClient,
  lastSequence: number | undefined,
  tell: Tell,
): Promise<readonly SequencedChunk[]> {
  const narrator = new Narrator(tell)
  const seen: SequencedChunk[] = []
  const stream = client.stream(lastSequence)
  for (let next = await stream.next(); ; next = await stream.next()) {
    if (next.done === true) {
      expect(next.value, 'the connection broke again')
      return seen
    }
    seen.push(next.value)
    narrator.show(next.value)
    if (narrator.text === LOOK_AFTER) await showHealth(client, 'reattached', tell)
  }
}

async function showHealth(client: ResearchClient, outcome: string, tell: Tell): Promise<void> {
  const [workspace = 'no workspace'] = await client.health()
  tell(`  GET /healthz  ${workspace}`)
  expect(workspace === `notes open, ${outcome}`, `the notes are not ${outcome}`)
}

/** No gap, nothing twice, and no call of a tool that ran twice or was lost. */
function checkStream(chunks: readonly SequencedChunk[]): void {
  const wrong = chunks.find(({ sequence }, i) => sequence !== i + 1)
  expect(wrong === undefined, `event ${wrong?.sequence} is not where it belongs`)
  const ends = chunks.filter((chunk) => chunk.type === 'tool_end')
  const failed = ends.find(({ success }) => !success)
  expect(failed === undefined, `${failed?.toolName} failed: ${failed?.error?.message}`)
  const calls = new Set(ends.map(({ toolCallId }) => toolCallId))
  expect(calls.size === ends.length, 'a call ran twice')
  expect(chunks.at(-1)?.type === 'output', 'the run has no output')
}

async function showNotes(client: ResearchClient, tell: Tell): Promise<void> {
  const { status } = await client.state()
  expect(status === 'completed', `the session is ${status}`)
  const notes = await client.notes()
  tell(`  GET /notes    ${notes.length} files`)
  expect(notes.length === 8, `there are ${notes.join(', ')}`)
  const report = await client.note('/report.md')
  for (const line of report.trimEnd().split('\n')) tell(`  │ ${line}`.trimEnd())
  const findings = report.match(/^\d+\. /gm)?.length
  expect(findings === 6, `the report has ${findings} findings`)
}

function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(`the story went wrong: ${otherwise}`)
}
