import { spawnSync } from 'node:child_process'
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
import { packageFolders, root } from '../repository.ts'
import { generateProvider } from './generate.ts'

const id = 'acme-files'
const folder = `packages/workspace-${id}`
let copy = ''

/** The repository by links; what the generator writes is written to the copy. */
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'helix-new-provider-'))
  mkdirSync(join(copy, 'packages'))
  const entries = ['tsconfig.base.json', 'node_modules', 'scripts', 'examples', 'bench']
  const linked = [...entries, ...packageFolders().map((name) => `packages/${name}`)]
  for (const entry of linked) symlinkSync(join(root, entry), join(copy, entry))
  cpSync(join(root, 'tsconfig.json'), join(copy, 'tsconfig.json'))
  generateProvider({ root: copy, id })
  const modules = join(copy, folder, 'node_modules')
  mkdirSync(join(modules, '@helix-agents'), { recursive: true })
  for (const name of ['core', 'workspace-conformance']) {
    symlinkSync(join(root, 'packages', name), join(modules, '@helix-agents', name))
  }
  symlinkSync(join(root, 'packages/core/node_modules/zod'), join(modules, 'zod'))
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

describe('pnpm new-provider', () => {
  test.each([
    ['sources', { include: ['src'] }, {}],
    ['tests', { include: ['src', 'test'] }, { types: ['node'] }],
  ])(
    'makes %s that type-check',
    (name, files, options) => {
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
        ...files,
      }
      const file = join(copy, folder, `tsconfig.${name}.json`)
      writeFileSync(file, JSON.stringify(config))
      const tsc = join(root, 'node_modules/.bin/tsc')
      const { stdout, status } = spawnSync(tsc, ['-p', file], {
        encoding: 'utf8',
      })
      expect([stdout, status]).toEqual(['', 0])
    },
    60_000,
  )

  test('makes a conformance test that fails on what the stub leaves open, and nothing else', () => {
    const open = workspaceBehaviours.filter(({ needs = [] }) => needs.join() === 'fs')
    const rest = workspaceBehaviours.filter(({ needs = [] }) => needs.length === 0)
    const results = runConformance()
    expect(results.failed).toEqual(open.map((behaviour) => behaviour.id).toSorted())
    expect(results.passed).toEqual(rest.map((behaviour) => behaviour.id).toSorted())
    expect(results.ownTests).toEqual(['passed', 'passed'])
  }, 60_000)

  test('makes files that pass lint', () => {
    const files = [join(copy, folder, 'src'), join(copy, folder, 'test')]
    const args = ['--deny-warnings', '-c', join(root, '.oxlintrc.json'), ...files]
    const { stdout, status } = spawnSync('oxlint', args, { cwd: root, encoding: 'utf8' })
    expect([stdout, status]).toEqual([expect.any(String), 0])
  })

  test('lists both projects of the package behind the other providers', () => {
    const { references } = JSON.parse(readFileSync(join(copy, 'tsconfig.json'), 'utf8')) as {
      references: { path: string }[]
    }
    const paths = references.map(({ path }) => path)
    const at = paths.indexOf(folder)
    expect(paths[at + 1]).toBe(`${folder}/tsconfig.test.json`)
    expect(paths[at - 1]).toMatch(/^packages\/workspace-/)
  })

  test.each(['Acme', 'a b', '../a', '', '1a', 'a_b', 'a-'])('refuses the kind %j', (wrong) => {
    expect(() => generateProvider({ root: copy, id: wrong })).toThrow('is not a kind')
  })

  test('does not overwrite a provider', () => {
    expect(() => generateProvider({ root: copy, id })).toThrow('exists already')
  })
})

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string
    /** Why a file could not be loaded. */
    readonly message: string
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[]
  }[]
}

function isConformance({ name }: { readonly name: string }): boolean {
  return name.endsWith('conformance.test.ts')
}

function runConformance(): { failed: string[]; passed: string[]; ownTests: string[] } {
  writeFileSync(
    join(copy, 'vitest.config.mjs'),
    `import { defaultServerConditions } from 'vite'
const conditions = ['@helix-agents/source', ...defaultServerConditions]
export default { resolve: { conditions }, ssr: { resolve: { conditions } } }`,
  )
  const report = join(copy, 'report.json')
  const output = ['--reporter=json', '--reporter=default', `--outputFile.json=${report}`]
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--root',
    copy,
    '--dir',
    join(copy, folder),
    ...output,
  ]
  const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, ...env } = process.env
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: copy, env, encoding: 'utf8' })
  expect(status).toBe(1)
  // A failing clause must not leave promises behind that fail after it.
  expect(stderr).not.toContain('Unhandled')
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as VitestReport
  expect(testResults.map((file) => file.message)).toEqual(['', ''])
  const tests = testResults.filter(isConformance).flatMap((file) => file.assertionResults)
  const own = testResults.filter((file) => !isConformance(file))
  const titles = (wanted: string): string[] =>
    tests.flatMap(({ title, status: state }) => (state === wanted ? [title] : [])).toSorted()
  const ownTests = own.flatMap((file) => file.assertionResults.map(({ status: state }) => state))
  return { failed: titles('failed'), passed: titles('passed'), ownTests }
}
