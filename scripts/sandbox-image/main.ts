// Makes an image for a container engine out of this machine's own programs and the container server
// of the test bed: for where the image of the SDK cannot be pulled. No registry, no network.
//
//   node --conditions=@helix-agents/source scripts/sandbox-image/main.ts [--remove]
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { provideServerFile } from '../../packages/sandbox-testbed/src/server-bundle.ts'
import { HostFiles } from './host-files.ts'

const NAME = 'helix-sandbox-testbed'
const TAG = '0.12.10'
const NODE = '/usr/local/bin/node'
const SERVER = '/opt/testbed/server.mjs'
const INIT = '/opt/testbed/init'
/** The first process takes in those whose parents are gone, and passes the end on. */
const INIT_SCRIPT = `#!/bin/sh
${NODE} ${SERVER} "$@" &
server=$!
trap 'kill -TERM "$server"' TERM INT
while :; do
  wait "$server"
  code=$?
  kill -0 "$server" 2>/dev/null || exit "$code"
done
`
const UNSQUASHFS = `#!/bin/sh\nexec ${NODE} ${SERVER} unsquashfs "$@"\n`
const CHANGES = [
  `ENTRYPOINT ["${INIT}"]`,
  'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'ENV HOME=/root',
  `ENV HELIX_TESTBED_SERVER_VERSION=${TAG}`,
  'WORKDIR /workspace',
  'EXPOSE 3000',
  // What the server in it answers, for those who choose a transport.
  'LABEL dev.helix-agents.sandbox.transports=rpc',
]

const socketPath = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').slice(
  'unix://'.length,
)
if (process.argv.includes('--remove')) await removeImage()
else await makeImage()

async function makeImage(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'helix-sandbox-image-'))
  try {
    await fillRoot(root)
    await importRoot(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  console.log(`HELIX_SANDBOX_IMAGE=${NAME}:${TAG}`)
  console.log(`MINIFLARE_CONTAINER_EGRESS_IMAGE=${NAME}:${TAG}`)
}

async function fillRoot(root: string): Promise<void> {
  chmodSync(root, 0o755)
  for (const name of ['etc', 'proc', 'sys', 'dev', 'run', 'root', 'workspace', 'opt/testbed']) {
    mkdirSync(join(root, name), { recursive: true })
  }
  for (const name of ['tmp', 'var/tmp']) {
    mkdirSync(join(root, name), { recursive: true })
    chmodSync(join(root, name), 0o1777)
  }
  const files = new HostFiles(root)
  files.addPrograms()
  files.addPython()
  files.addFile(process.execPath, NODE)
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\n')
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\n')
  symlinkSync('/proc/self/mounts', join(root, 'etc/mtab'))
  writeFileSync(join(root, INIT), INIT_SCRIPT, { mode: 0o755 })
  writeFileSync(join(root, 'usr/bin/unsquashfs'), UNSQUASHFS, { mode: 0o755 })
  await provideServerFile(join(root, SERVER))
}

/** Sends the folder to the engine as the one layer of an image. */
async function importRoot(root: string): Promise<void> {
  const tar = spawn(
    'tar',
    ['-C', root, '--owner=0', '--group=0', '--numeric-owner', '-cf', '-', '.'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const query = new URLSearchParams({ fromSrc: '-', repo: `${NAME}:${TAG}` })
  for (const change of CHANGES) query.append('changes', change)
  const sent = request({ socketPath, method: 'POST', path: `/v1.41/images/create?${query}` })
  sent.setHeader('content-type', 'application/x-tar')
  const [, text] = await Promise.all([pipeline(tar.stdout, sent), answerOf(sent)])
  if (text.includes('"error"')) throw new Error(text)
}

async function removeImage(): Promise<void> {
  const sent = request({ socketPath, method: 'DELETE', path: `/v1.41/images/${NAME}:${TAG}` }).end()
  await answerOf(sent)
}

async function answerOf(sent: NodeJS.EventEmitter): Promise<string> {
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  let text = ''
  for await (const chunk of answer ?? []) text += String(chunk)
  const status = answer?.statusCode ?? 0
  if (status >= 400 && status !== 404) throw new Error(`${status} ${text}`)
  return text
}
