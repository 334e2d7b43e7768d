// npm run talk -- "Buy oranges"     one turn, with the Worker that `npm start` runs
import { AgentClient } from './agent-client.ts'

const { URL: server = 'http://127.0.0.1:8787', API_TOKEN = 'local', SESSION = 'main' } = process.env
const message = process.argv.slice(2).join(' ')
if (message === '') {
  console.error('npm run talk -- "what you want to say"')
  process.exit(2)
}
const request = (path: string, init: RequestInit) => fetch(server + path, init)
const client = new AgentClient({ request, token: API_TOKEN, session: SESSION })
try {
  for await (const text of client.say(message)) process.stdout.write(text)
} catch (error) {
  console.error(error instanceof TypeError ? `is npm start running? ${error.message}` : error)
  process.exitCode = 1
}
