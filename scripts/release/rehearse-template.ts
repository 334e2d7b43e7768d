// One template as a newcomer meets it: create, check, test, run, run with a model.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { trialOf } from '../commands/command-plan.ts'
import { fencesOf } from '../commands/printed-commands.ts'
import { startLocalModel } from './local-model.ts'
import { type Newcomer, served, typed } from './newcomer.ts'

export interface Rehearsal {
  readonly template: string
  readonly createSeconds: number
  /** From the first keystroke to passing tests. */
  readonly testSeconds: number
  /** The same to the first answer, which comes after the tests. */
  readonly answerSeconds: number
  /** What is typed for both, Enter included. */
  readonly keystrokes: number
  readonly totalSeconds: number
}

const SAID = 'Hello from the local model.'

/**
 * Creates a project, and types every command of its README, in order.
 * @throws {Error} with the output of the command that fails, or does not print what it should.
 */
export async function rehearseTemplate(newcomer: Newcomer, template: string): Promise<Rehearsal> {
  const start = performance.now()
  const seconds = (): number => (performance.now() - start) / 1000
  const name = `my-${template}`
  const create = `npm create helix-agents ${name} -- --template ${template}`
  // npm asks before it fetches the program; a person answers with Enter.
  await typed(newcomer, create.replace('create', 'create -y'), { cwd: newcomer.place })
  const createSeconds = seconds()
  const cwd = join(newcomer.place, name)
  const project = { template, newcomer, cwd }
  await typed(newcomer, 'npm test', { cwd })
  const testSeconds = seconds()
  await run(project, { expected: 'Notes so far: 1.' })
  const answerSeconds = seconds()
  await typeReadme(project)
  await checkOurTypes(newcomer, cwd)
  const lines = [create, '', `cd ${name} && npm test`, ...asking(template)]
  const keystrokes = lines.join('\n').length + 1
  const times = { createSeconds, testSeconds, answerSeconds, totalSeconds: seconds() }
  return { template, keystrokes, ...times }
}

/** How a person gets the first answer. */
function asking(template: string): readonly string[] {
  if (template === 'terminal') return ['npm start -- "Buy oranges"']
  if (template === 'chat') return ['npm start', 'Buy oranges']
  return ['npm start', `cd my-${template}`, 'npm run talk -- "Buy oranges"']
}

interface Project {
  readonly template: string
  readonly newcomer: Newcomer
  readonly cwd: string
}

/** @throws {Error} for a command that nothing here types. */
async function typeReadme(project: Project): Promise<void> {
  const { template, newcomer, cwd } = project
  const page = 'packages/create-helix-agents/templates/README.md'
  const fences = fencesOf(page, readFileSync(join(cwd, 'README.md'), 'utf8'))
  for (const { command } of fences.flatMap(({ commands }) => commands)) {
    if (trialOf(page, command)?.kind === 'needs') continue
    if (/^npm (?:install|run typecheck)$/.test(command)) await typed(newcomer, command, { cwd })
    else if (/^MODEL=\S+ MODEL_BASE_URL=\S+ npm start$/.test(command)) await runWithModel(project)
    else if (template === 'terminal' && command.startsWith('npm start')) {
      await typed(newcomer, `${command} </dev/null`, { cwd })
    } else if (!typedElsewhere.test(command)) {
      throw new Error(`${template}: nothing types "${command}"`)
    }
  }
  // In a `.env` file, which the rehearsal gives as variables.
  if (template.startsWith('worker')) await runWithModel(project)
}

/** By `run`; and with keys of real providers, `examples/models.test.ts`. */
const typedElsewhere =
  /^npm (?:test|start|run talk -- "Buy oranges")$|^MODEL=\w+\/\S+ \w+_API_KEY=… npm start$/

async function runWithModel({ newcomer: { place, env }, ...project }: Project): Promise<void> {
  const model = await startLocalModel([SAID])
  const newcomer = { place, env: { ...env, MODEL: 'tiny', MODEL_BASE_URL: model.url } }
  try {
    await run({ ...project, newcomer }, { expected: SAID, session: 'second' })
  } finally {
    model.close()
  }
}

/** Every declaration file of ours that a project loads; those of others are not our business. */
async function checkOurTypes(newcomer: Newcomer, cwd: string): Promise<void> {
  const projects = ['tsconfig.json', 'tsconfig.node.json'].filter((file) =>
    existsSync(join(cwd, file)),
  )
  for (const project of projects) {
    const command = `npx --no-install tsc --noEmit --skipLibCheck false -p ${project} || true`
    const output = await typed(newcomer, command, { cwd })
    const ours = output.split('\n').filter((line) => line.includes('node_modules/@helix-agents/'))
    if (ours.length > 0) throw new Error(`${project}: types of ours are wrong\n${ours.join('\n')}`)
  }
}

interface Turn {
  readonly expected: string
  readonly session?: string
}

/** One turn, as the README of the template says. */
async function run({ template, newcomer, cwd }: Project, turn: Turn): Promise<void> {
  const { expected, session = 'main' } = turn
  const output = await turnOf(template, newcomer, { cwd, session })
  if (!output.includes(expected)) throw new Error(`${template}: no "${expected}" in\n${output}`)
}

interface Place {
  readonly cwd: string
  readonly session: string
}

async function turnOf(template: string, { place, env }: Newcomer, at: Place): Promise<string> {
  const { cwd, session } = at
  if (template === 'terminal') {
    const newcomer = { place, env: { ...env, SESSION: session } }
    return typed(newcomer, 'npm start -- "Buy oranges"', { cwd })
  }
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const newcomer = { place, env: { ...env, PORT: String(port), URL: url, SESSION: session } }
  const command = template === 'worker' ? workerStart(env, port) : 'npm start'
  const server = { command, cwd, ready: new RegExp(`(?:Ready on |^)http://[\\w.]+:${port}`, 'm') }
  return served(newcomer, server, () =>
    template === 'chat'
      ? askChat(url, session)
      : typed(newcomer, 'npm run talk -- "Buy oranges"', { cwd }),
  )
}

/** wrangler takes variables from `.env` or its command line, not from the environment. */
function workerStart({ MODEL = '', MODEL_BASE_URL = '' }: NodeJS.ProcessEnv, port: number): string {
  const model = MODEL === '' ? '' : ` --var MODEL:${MODEL} --var MODEL_BASE_URL:${MODEL_BASE_URL}`
  return `npm start -- --port ${port} --inspector-port 0${model}`
}

async function askChat(url: string, id: string): Promise<string> {
  const page = await (await fetch(url)).text()
  if (!page.includes('<div id="chat">')) throw new Error(`no page\n${page}`)
  const answer = textOf(await post(url, { id, text: 'Buy oranges' }))
  // Only the script knows this sentence; a model of the rehearsal says what it always says.
  const events = await post(url, { id, text: 'Change note 1 to Buy apples' })
  const requestId = /"approvalId":"(?<id>[^"]+)"/.exec(events)?.groups?.id
  if (requestId === undefined && answer.includes(SAID)) return answer
  const changed = textOf(await post(url, { id, answers: [{ requestId, decision: 'approve' }] }))
  if (changed !== 'Changed.') throw new Error(`an approved change answers "${changed}"`)
  return answer
}

async function post(url: string, body: object): Promise<string> {
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.text()
}

function textOf(events: string): string {
  const deltas = [...events.matchAll(/"type":"text-delta".*?"delta":"(?<text>[^"]*)"/g)]
  return deltas.map((match) => match.groups?.text).join('')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('there is no free port')
  return address.port
}
