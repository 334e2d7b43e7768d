// `helix` of a shell: hands its command to the process that serves it, see `served-helix.ts`.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Ran } from './test-host.ts'

const [path = '', ...args] = process.argv.slice(2)
const command = { args, env: process.env, cwd: process.cwd() }
const socket = connect(path).end(JSON.stringify(command))
const { code, out, err } = JSON.parse(await text(socket)) as Ran
process.stdout.write(out)
process.stderr.write(err)
process.exitCode = code
