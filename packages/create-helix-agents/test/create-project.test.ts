import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest'
import { buildTemplates } from '../../../scripts/release/build-templates.ts'
import { createProject, runCreate } from '../src/index.ts'

const templatesFolder = mkdtempSync(join(tmpdir(), 'helix-templates-'))
let place: string

beforeAll(() => buildTemplates(templatesFolder))
afterAll(() => rmSync(templatesFolder, { recursive: true }))
beforeEach(() => (place = mkdtempSync(join(tmpdir(), 'helix-create-'))))
afterEach(() => rmSync(place, { recursive: true }))

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function create(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const { signal } = new AbortController()
  const host = { stdin: new PassThrough(), stdout, stderr, env, signal, templatesFolder }
  const code = await runCreate(args, host)
  stdout.end()
  stderr.end()
  return { code, stdout: await text(stdout), stderr: await text(stderr) }
}

function manifestOf(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
}

/** A program in place of npm, which records its arguments. */
function fakeNpm(script: string): NodeJS.ProcessEnv {
  const file = join(place, 'fake-npm.cjs')
  writeFileSync(file, script)
  return { PATH: process.env.PATH, npm_config_user_agent: 'npm/11.0.0', npm_execpath: file }
}

function openTerminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  const controller = new AbortController()
  const stderr = new PassThrough()
  const { signal } = controller
  let seen = ''
  stdout.on('data', (chunk) => (seen += String(chunk)))
  const host = { stdin, stdout, stderr, env: {}, signal, templatesFolder }
  return { host, stdin, shows: async (words: string) => expect.poll(() => seen).toContain(words) }
}

test('a project names itself, has versions of a registry and nothing of this repository', async () => {
  const folder = join(place, 'my-bot')
  const { code, stdout } = await create([folder, '-t', 'terminal', '--no-install'])
  expect(code).toBe(0)
  expect(stdout).toContain('npm install\n  npm start\n')
  const manifest = manifestOf(folder)
  expect(manifest).toMatchObject({ name: 'my-bot', version: '0.0.0', private: true })
  expect(Object.keys(manifest).slice(0, 2)).toEqual(['name', 'version'])
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  for (const file of files.filter((one) => one.isFile())) {
    const content = readFileSync(join(file.parentPath, file.name), 'utf8')
    expect(content).not.toMatch(/workspace:|catalog:|\{\{|@helix-agents\/source|pnpm@/)
  }
  expect(readdirSync(folder).toSorted()).toEqual([
    '.env.example',
    '.gitignore',
    'README.md',
    'package.json',
    'src',
    'test',
    'tsconfig.json',
  ])
})

test('a program makes a project, and can stop before', async () => {
  const options = { name: 'a', template: 'terminal', templatesFolder, install: false, env: {} }
  const made = await createProject({ ...options, folder: join(place, 'a') })
  expect(made).toMatchObject({ installed: false, packageManager: 'npm', folder: join(place, 'a') })
  const stopped = createProject({
    ...options,
    folder: join(place, 'b'),
    signal: AbortSignal.abort(),
  })
  await expect(stopped).rejects.toMatchObject({ name: 'CreateError', code: 'interrupted' })
  expect(readdirSync(place)).toEqual(['a'])
})

test('--json prints one line, of a success and of a failure', async () => {
  const folder = join(place, 'a')
  const args = [folder, '--template', 'terminal', '--no-install', '--json']
  const made = await create(args)
  expect(JSON.parse(made.stdout)).toEqual({
    name: 'a',
    template: 'terminal',
    folder,
    installed: false,
    packageManager: 'npm',
    next: [expect.stringContaining('cd '), 'npm install', 'npm start'],
  })
  const again = await create(args)
  expect([again.code, JSON.parse(again.stdout)]).toEqual([
    1,
    { error: { code: 'folder-not-empty', message: expect.stringContaining('package.json') } },
  ])
})

test('a folder that holds anything is left as it is; what git and file managers leave does not count', async () => {
  const full = join(place, 'full')
  mkdirSync(full)
  writeFileSync(join(full, 'mine.txt'), 'mine')
  const rejected = await create([full, '-t', 'terminal', '--no-install'])
  expect(rejected.code).toBe(1)
  expect(rejected.stderr).toContain('is not empty: it holds mine.txt. Nothing was changed.')
  expect(readdirSync(full)).toEqual(['mine.txt'])

  const cloned = join(place, 'cloned')
  mkdirSync(join(cloned, '.git'), { recursive: true })
  expect((await create([cloned, '-t', 'terminal', '--no-install'])).code).toBe(0)

  const file = join(place, 'file')
  writeFileSync(file, '')
  expect((await create([file, '-t', 'terminal', '--no-install'])).code).toBe(1)
  expect(readFileSync(file, 'utf8')).toBe('')

  symlinkSync('/nowhere/at/all', join(place, 'dangling'))
  expect((await create([join(place, 'dangling'), '-t', 'terminal', '--no-install'])).code).toBe(1)
})

describe('names', () => {
  test.each([
    'UPPER',
    'a b',
    '../up',
    '.hidden',
    'node_modules',
    'http',
    'a'.repeat(215),
    '$(touch pwned)',
    '`id`',
    "a';touch pwned;'",
    '@scope',
    'a\nb',
  ])('%j is rejected, and nothing is made', async (name) => {
    const folder = join(place, 'named')
    const args = [folder, '-t', 'terminal', '--no-install', '--name', name]
    expect([(await create(args)).code, existsSync(folder)]).toEqual([1, false])
  })

  test.each([
    ['My Bot!', 'my-bot'],
    ['.hidden', 'hidden'],
    ['$(touch pwned)', 'touch-pwned'],
    ['...', 'my-agent'],
    ["a'b c", 'a-b-c'],
  ])('a folder %j becomes the name %s', async (folder, name) => {
    const path = join(place, 'in', folder)
    const { code, stdout } = await create([path, '-t', 'terminal', '--no-install'])
    expect([code, manifestOf(path).name]).toEqual([0, name])
    // What is printed can be typed.
    const [, change] = /^ {2}(cd .*)$/m.exec(stdout) ?? []
    const seen = execFileSync('bash', ['-c', `${change} && pwd`], { encoding: 'utf8' })
    expect(seen.trimEnd()).toBe(path)
    expect(readdirSync(place)).toEqual(['in'])
  })

  test('a name with a scope goes into a folder without it', async () => {
    const before = process.cwd()
    process.chdir(place)
    try {
      await create(['-t', 'terminal', '--no-install', '--name', '@acme/bot'])
    } finally {
      process.chdir(before)
    }
    expect(manifestOf(join(place, 'bot')).name).toBe('@acme/bot')
  })
})

test.each([
  [['a', 'b'], 'one folder is enough'],
  [['--nope'], "Unknown option '--nope'"],
  [['a', '--template', ''], 'template is empty'],
  [['a'], 'or take the defaults by --yes'],
  [[], 'or take the defaults by --yes'],
])('%j is a mistake of usage', async (args, words) => {
  const { code, stderr } = await create(args)
  expect(code).toBe(2)
  expect(stderr).toContain(words)
})

test('an unknown template is named, with those that there are', async () => {
  const { code, stderr } = await create([join(place, 'a'), '-t', 'nope'])
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/there is no template "nope"; there are terminal/),
  ])
})

test('help names every option and template; the version is that of the package', async () => {
  const { stdout } = await create(['--help'])
  for (const word of ['--template', '--name', '--yes', '--json', '--packages', '--no-install']) {
    expect(stdout).toContain(word)
  }
  for (const name of readdirSync(templatesFolder)) expect(stdout).toContain(`  ${name}`)
  expect(stdout).toMatch(/^Usage: npm create helix-agents \[folder\] -- \[options\]\n/)
  expect((await create(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('what the install leaves behind when it fails is removed, and the end of its output is shown', async () => {
  const env = fakeNpm(`
    require('node:fs').mkdirSync('node_modules/half', { recursive: true })
    console.error('E404 not found')
    process.exit(1)`)
  const folder = join(place, 'deep/er/bot')
  const { code, stderr } = await create([folder, '-t', 'terminal'], env)
  expect([code, stderr]).toEqual([1, expect.stringContaining('E404 not found')])
  expect(existsSync(join(place, 'deep'))).toBe(false)

  const cloned = join(place, 'cloned')
  mkdirSync(join(cloned, '.git'), { recursive: true })
  expect((await create([cloned, '-t', 'terminal'], env)).code).toBe(1)
  expect(readdirSync(cloned)).toEqual(['.git'])
})

test('a folder of tarballs takes the place of the registry', async () => {
  const packages = join(place, 'tarballs')
  mkdirSync(join(place, 'package'), { recursive: true })
  mkdirSync(packages)
  for (const name of ['@helix-agents/sdk', '@helix-agents/core']) {
    writeFileSync(join(place, 'package/package.json'), JSON.stringify({ name }))
    const file = join(packages, `${name.split('/')[1]}.tgz`)
    execFileSync('tar', ['-czf', file, '-C', place, 'package/package.json'])
  }
  const env = fakeNpm(`require('node:fs').writeFileSync('args', process.argv.slice(2).join(' '))`)
  const folder = join(place, 'bot')
  expect((await create([folder, '-t', 'terminal', '--packages', packages], env)).code).toBe(0)
  expect(manifestOf(folder)).toMatchObject({
    dependencies: { '@helix-agents/sdk': `file:${join(packages, 'sdk.tgz')}` },
    overrides: { '@helix-agents/core': `file:${join(packages, 'core.tgz')}` },
  })
  expect(readFileSync(join(folder, 'args'), 'utf8')).toMatch(/^install .*--prefer-offline$/)
})

test('a folder without tarballs, and a file that is none, are named', async () => {
  const bad = join(place, 'bad')
  mkdirSync(bad)
  const args = [join(place, 'bot'), '-t', 'terminal', '--packages']
  expect((await create([...args, join(place, 'none')])).stderr).toContain('cannot be read')
  expect((await create([...args, bad])).stderr).toContain('holds no tarballs')
  writeFileSync(join(bad, 'a.tgz'), 'no tarball')
  expect((await create([...args, bad])).stderr).toContain('a.tgz is not the tarball of a package')
  expect(existsSync(join(place, 'bot'))).toBe(false)
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s in the middle of the install leaves nothing, and ends with 130',
  async (signal) => {
    const env = fakeNpm(`
      require('node:fs').mkdirSync('node_modules/half', { recursive: true })
      process.on('SIGTERM', () => {
        require('node:fs').writeFileSync('node_modules/half/late', '')
        process.exit(1)
      })
      process.stdout.write('installing')
      setInterval(() => {}, 1000)
      require('node:fs').writeFileSync(process.env.STARTED, '')`)
    const folder = join(place, 'bot')
    const started = join(place, 'started')
    const program = `
      import { interruptSignal, runCreate } from ${JSON.stringify(join(import.meta.dirname, '../src/index.ts'))}
      const { stdin, stdout, stderr, env } = process
      const templatesFolder = ${JSON.stringify(templatesFolder)}
      const host = { stdin, stdout, stderr, env, signal: interruptSignal(), templatesFolder }
      process.exitCode = await runCreate(process.argv.slice(1), host)`
    const args = ['--input-type=module', '-e', program, '--', folder, '-t', 'terminal']
    const child = spawn(process.execPath, args, { env: { ...env, STARTED: started } })
    const output = text(child.stderr)
    await expect.poll(() => existsSync(started)).toBe(true)
    child.kill(signal)
    const [code] = (await once(child, 'close')) as [number | null]
    expect([code, await output]).toEqual([130, 'Interrupted; nothing was made.\n'])
    expect(existsSync(folder)).toBe(false)
  },
)

describe('in a terminal', () => {
  test('it asks for a folder and a template', async () => {
    const { host, stdin, shows } = openTerminal()
    const done = runCreate(['--no-install'], host)
    await shows('Where should the project go?')
    const folder = join(place, 'asked')
    stdin.write(folder)
    stdin.write('\r')
    await shows('What should it be?')
    stdin.write('\r')
    expect(await done).toBe(0)
    expect(manifestOf(folder).name).toBe('asked')
  })

  test('Ctrl+C at a question ends with 130, and nothing is made', async () => {
    const { host, stdin, shows } = openTerminal()
    const done = runCreate(['--no-install', join(place, 'asked')], host)
    await shows('What should it be?')
    stdin.write('\u0003')
    expect(await done).toBe(130)
    expect(readdirSync(place)).toEqual([])
  })
})
