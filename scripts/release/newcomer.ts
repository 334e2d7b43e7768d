// A machine as a newcomer has it: an empty home, one Node with its npm, and one registry.
import { execFile, type ExecFileOptions, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../repository.ts'

export interface Newcomer {
  /** Empty; projects go there. */
  readonly place: string
  readonly env: NodeJS.ProcessEnv
}

const execute = promisify(execFile)
const PATIENCE_MS = 300_000

/**
 * @param registry Address of the only registry.
 * @param programs Folders whose programs come first, such as that of another Node.
 */
export function createNewcomer(registry: string, programs: readonly string[] = []): Newcomer {
  const place = mkdtempSync(join(tmpdir(), 'helix-newcomer-'))
  // The test bed runs containers as other users, who must reach its files.
  chmodSync(place, 0o755)
  const home = join(place, 'home')
  mkdirSync(home)
  const host = new URL(registry).host
  // Anyone may publish there, and npm wants to know who.
  writeFileSync(join(home, '.npmrc'), `registry=${registry}\n//${host}/:_authToken=rehearsal\n`)
  const own = [...programs, dirname(realpathSync(process.execPath))]
  const env = {
    HOME: home,
    PATH: [...own, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    LANG: 'C.UTF-8',
    TMPDIR: place,
    CI: '1',
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    // npx and corepack of the pnpm that started this check must not leak in.
    npm_config_registry: registry,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }
  return { place, env }
}

/** Runs a command line as typed. @returns what it printed. @throws {Error} with that when it fails. */
export async function typed(
  { env }: Newcomer,
  command: string,
  options: ExecFileOptions = {},
): Promise<string> {
  const all = {
    timeout: PATIENCE_MS,
    maxBuffer: 64 * 1024 * 1024,
    ...options,
    env,
    cwd: options.cwd,
  }
  try {
    const { stdout, stderr } = await execute('bash', ['-c', command], all)
    return String(stdout) + String(stderr)
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    const output = `${stdout}${stderr}`.slice(-6000)
    throw new Error(`$ ${command}\n${output || String(error)}`, { cause: error })
  }
}

/** Starts a command line that serves, waits for `ready`, and does `visit` before it is stopped. */
export async function served<T>(
  { env }: Newcomer,
  { command, cwd, ready }: { command: string; cwd: string; ready: RegExp },
  visit: () => Promise<T>,
): Promise<T> {
  const child = spawn('bash', ['-c', command], { cwd, env, detached: true, stdio: 'pipe' })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let output = ''
  const timer = setTimeout(() => reject(new Error(`$ ${command}\nis not ready\n${output}`)), 60_000)
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += String(chunk)
      if (ready.test(output)) resolve()
    })
  }
  const ended = new Promise<void>((done) => child.once('close', () => done()))
  void ended.then(() => reject(new Error(`$ ${command}\nended\n${output}`)))
  try {
    await promise
    return await visit()
  } finally {
    clearTimeout(timer)
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT')
    const late = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), 15_000)
    await ended
    clearTimeout(late)
  }
}

/** The folder with the `node` of a release, from npm; kept from run to run. */
export async function nodeRelease(version: string): Promise<string> {
  const folder = join(root, 'node_modules/.cache/rehearsal', `node-${version}`)
  const name = `node-linux-${process.arch}`
  const bin = join(folder, 'node_modules', name, 'bin')
  if (!existsSync(join(bin, 'node'))) await installInto(folder, `${name}@${version}`)
  return bin
}

/** The folder with the program of an npm package, such as bun. */
export async function programOf(name: string, version: string): Promise<string> {
  const folder = join(root, 'node_modules/.cache/rehearsal', `${name}-${version}`)
  if (!existsSync(join(folder, 'node_modules/.bin', name))) {
    await installInto(folder, `${name}@${version}`)
  }
  const programs = join(folder, 'programs')
  mkdirSync(programs, { recursive: true })
  const link = join(programs, name)
  if (!existsSync(link)) symlinkSync(realpathSync(join(folder, 'node_modules/.bin', name)), link)
  return programs
}

async function installInto(folder: string, wanted: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const args = [
    'install',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--loglevel=error',
    wanted,
  ]
  await execute('npm', args, { cwd: folder })
}
