import { execFile, type ExecFileOptions } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { workspaceBehaviours } from '../../packages/workspace-conformance/src/index.ts'
import {
  storeBehaviours,
  streamBehaviours,
} from '../../packages/workspace-conformance/src/store/index.ts'
import { generateProvider } from '../new-provider/generate.ts'
import { generateStore } from '../new-store/generate.ts'
import { packageFolders, root } from '../repository.ts'

const provider = 'packages/workspace-acme-files'
const store = 'packages/store-acme-db'
const folders = [provider, store]
let copy = ''

/** The repository by links; what the generators write is written to the copy. */
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'helix-scaffold-'))
  for (const folder of ['packages', 'docs']) mkdirSync(join(copy, folder))
  const linked = [
    'tsconfig.base.json',
    'node_modules',
    'scripts',
    'examples',
    'bench',
    'docs/guide',
    'package.json',
    '.changeset',
    ...packageFolders().map((name) => `packages/${name}`),
  ]
  for (const entry of linked) symlinkSync(join(root, entry), join(copy, entry))
  for (const entry of ['tsconfig.json', 'docs/providers']) {
    cpSync(join(root, entry), join(copy, entry), { recursive: true })
  }
  generateProvider({ root: copy, id: 'acme-files' })
  generateStore({ root: copy, id: 'acme-db' })
  for (const folder of folders) installLinks(folder)
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

function installLinks(folder: string): void {
  const modules = join(copy, folder, 'node_modules')
  mkdirSync(join(modules, '@helix-agents'), { recursive: true })
  for (const name of ['core', 'store-sql', 'workspace-conformance']) {
    symlinkSync(join(root, 'packages', name), join(modules, '@helix-agents', name))
  }
  symlinkSync(join(root, 'packages/core/node_modules/zod'), join(modules, 'zod'))
}

describe('pnpm new-provider and pnpm new-store', () => {
  test.each([
    ['sources', ['src'], {}],
    ['tests', ['src', 'test'], { types: ['node'] }],
  ])(
    'make %s that type-check',
    async (name, parts, options) => {
      const config = {
        extends: join(root, 'tsconfig.base.json'),
        compilerOptions: {
          lib: ['es2024', 'webworker'],
          typeRoots: [join(root, 'node_modules/@types')],
          rewriteRelativeImportExtensions: false,
          allowImportingTsExtensions: true,
          noEmit: true,
          composite: false,
          declaration: false,
          emitDeclarationOnly: false,
          ...options,
        },
        include: folders.flatMap((folder) => parts.map((part) => `${folder}/${part}`)),
      }
      const file = join(copy, `tsconfig.${name}.json`)
      writeFileSync(file, JSON.stringify(config))
      const tsc = join(root, 'node_modules/.bin/tsc')
      const { stdout, status } = await run(tsc, ['-p', file, '--singleThreaded'])
      expect([stdout, status]).toEqual(['', 0])
    },
    180_000,
  )

  test('make files that pass lint', async () => {
    const files = folders.flatMap((folder) => [
      join(copy, folder, 'src'),
      join(copy, folder, 'test'),
    ])
    const args = ['--deny-warnings', '-c', join(root, '.oxlintrc.json'), ...files]
    const { stdout, status } = await run(join(root, 'node_modules/.bin/oxlint'), args, {
      cwd: root,
    })
    expect([stdout, status]).toEqual([expect.any(String), 0])
  })

  test('make suites of which a store fails none, and a provider what its stub leaves open', async () => {
    const report = await runTests()
    const open = workspaceBehaviours.filter(({ needs = [] }) => needs.join() === 'fs')
    const closed = workspaceBehaviours.filter(({ needs = [] }) => needs.length === 0)
    const titles = (file: string, status: string): string[] =>
      report.flatMap(({ name, assertionResults }) =>
        name.endsWith(file)
          ? assertionResults.flatMap((one) => (one.status === status ? [one.title] : []))
          : [],
      )
    const conformance = `${provider}/test/conformance.test.ts`
    expect(titles(conformance, 'failed').toSorted()).toEqual(open.map(({ id }) => id).toSorted())
    expect(titles(conformance, 'passed').toSorted()).toEqual(closed.map(({ id }) => id).toSorted())
    expect(titles(`${provider}/test/backend.test.ts`, 'passed')).toHaveLength(2)
    const offered = ['durable', 'damage', 'immediate']
    const whole = [...storeBehaviours, ...streamBehaviours].filter(({ needs = [] }) =>
      needs.every((need) => offered.includes(need)),
    )
    expect(titles(`${store}/test/conformance.test.ts`, 'passed').toSorted()).toEqual(
      whole.map(({ id }) => id).toSorted(),
    )
    expect(titles(`${store}/test/database.test.ts`, 'passed')).toHaveLength(3)
    expect(report.flatMap(({ name, message }) => (message === '' ? [] : [name, message]))).toEqual(
      [],
    )
    // The rules of the tree for a package hold, with nothing done by hand.
    const rules = report
      .filter(({ name }) => name.endsWith('layout.test.ts'))
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ ancestorTitles }) => ancestorTitles.length > 0)
    expect(rules).toHaveLength(14)
    expect(rules.filter(({ status }) => status !== 'passed')).toEqual([])
  }, 180_000)

  test.each(['Acme', 'a b', '../a', '', '1a', 'a_b', 'a-'])('refuse the kind %j', (wrong) => {
    expect(() => generateProvider({ root: copy, id: wrong })).toThrow('is not a kind')
  })

  test('overwrite nothing', () => {
    expect(() => generateProvider({ root: copy, id: 'acme-files' })).toThrow('exists already')
    expect(() => generateStore({ root: copy, id: 'sqlite' })).toThrow('exists already')
  })
})

interface FileReport {
  readonly name: string
  /** Why a file could not be loaded. */
  readonly message: string
  readonly assertionResults: readonly {
    readonly ancestorTitles: readonly string[]
    readonly title: string
    readonly status: string
  }[]
}

/** Reports of the test runner are answered meanwhile. */
function run(file: string, args: readonly string[], options: ExecFileOptions = {}) {
  return new Promise<{ stdout: string; stderr: string; status: unknown }>((resolve) => {
    execFile(file, args, { ...options, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ stdout, stderr, status: error === null ? 0 : error.code }),
    )
  })
}

/** In one process, which loads the packages once. */
async function runTests(): Promise<readonly FileReport[]> {
  writeFileSync(
    join(copy, 'vitest.config.mjs'),
    `import { defaultServerConditions } from 'vite'
const conditions = ['@helix-agents/source', ...defaultServerConditions]
const include = [...${JSON.stringify(folders)}.map((folder) => folder + '/test/**/*.test.ts'), 'scripts/layout.test.ts']
export default { resolve: { conditions }, ssr: { resolve: { conditions } }, test: { include, isolate: false, maxWorkers: 1 } }`,
  )
  const report = join(copy, 'report.json')
  const output = ['--reporter=json', '--reporter=default', `--outputFile.json=${report}`]
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', copy, ...output]
  const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, ...inherited } = process.env
  const env = { ...inherited, HELIX_ROOT: copy }
  const { status, stderr } = await run(process.execPath, args, { cwd: copy, env })
  expect(status).toBe(1)
  // A failing clause must not leave promises behind that fail after it.
  expect(stderr).not.toContain('Unhandled')
  return (JSON.parse(readFileSync(report, 'utf8')) as { testResults: FileReport[] }).testResults
}
