import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageFolders, root } from '../repository.ts'
import { generateModule } from './generate.ts'

let copy = ''
let written: readonly string[] = []

/** Sources are copied, since links lead back to the repository; what is installed is linked. */
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'helix-new-module-'))
  const copied = [
    'scripts',
    ...packageFolders().flatMap((name) =>
      ['src', 'package.json', 'node_modules'].map((part) => `packages/${name}/${part}`),
    ),
  ]
  for (const entry of copied) {
    cpSync(join(root, entry), join(copy, entry), { recursive: true, verbatimSymlinks: true })
  }
  for (const entry of ['node_modules', 'package.json', 'tsconfig.base.json']) {
    symlinkSync(join(root, entry), join(copy, entry))
  }
  written = generateModule({ root: copy, id: 'net' })
  const program = join(import.meta.dirname, 'program.ts.template')
  cpSync(program, join(copy, 'packages/workspace-conformance/src/program.ts'))
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

describe('pnpm new-module', () => {
  test('writes a folder, a page and lines of the one list', () => {
    expect(written.map((file) => file.replace(/net\/.*/, 'net'))).toContain('docs/modules/net.md')
    expect(written.filter(isElsewhere).map((file) => basename(file))).toEqual(['net.md', 'list.ts'])
    const known = new Set(linesOfList(root))
    expect(linesOfList(copy).filter((line) => !known.has(line))).toEqual([
      "import { netModule } from './net/module.ts'",
      '  net: netModule,',
    ])
  })

  test('makes sources that type-check, with an agent and a provider that use the module', () => {
    const config = {
      extends: './tsconfig.base.json',
      compilerOptions: {
        lib: ['es2024', 'webworker'],
        types: [],
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
        noEmit: true,
        composite: false,
        declaration: false,
        emitDeclarationOnly: false,
      },
      include: ['packages/core/src', 'packages/workspace-conformance/src/program.ts'],
    }
    const file = join(copy, 'tsconfig.json')
    writeFileSync(file, JSON.stringify(config))
    const tsc = join(root, 'node_modules/.bin/tsc')
    const { stdout, status } = spawnSync(tsc, ['-p', file, '--singleThreaded'], {
      encoding: 'utf8',
    })
    expect([stdout, status]).toEqual(['', 0])
  }, 180_000)

  test('works from the declaration to the tool, the ref, the conformance kit and the docs', () => {
    const result = runInCopy('packages/workspace-conformance/src/program.ts')
    expect(result).toEqual({
      tools: ['workspace__box__net_status'],
      problem: expect.stringContaining('net: Unrecognized key: "maxWords"'),
      answer: 'net is',
      refFlags: ['fs', 'net'],
      foreignFlag: 'ref-invalid',
      missing: 'capability-missing',
      kit: 'ok',
      kitNoticesTheLack: true,
    })
  })

  test('has its tables in the docs', () => {
    writeFileSync(
      join(copy, 'scripts/tables.ts'),
      `import { sections } from './docs/sections.ts'
console.log(JSON.stringify({ tools: sections.tools?.('net'), defaults: sections.defaults?.('net'), providers: sections.providers?.() }))`,
    )
    const tables = runInCopy('scripts/tables.ts')
    expect(tables['tools']).toContain('`net_status()`')
    expect(tables['defaults']).toContain('Longest answer that a call may return')
    expect(tables['providers']).toMatch(/^\| kind .*\| snapshot +\| net +\|/m)
  })

  test.each(['Net', 'a b', '../a', '', '1a', 'a-b'])('refuses the key %j', (wrong) => {
    expect(() => generateModule({ root: copy, id: wrong })).toThrow('is not a key')
  })

  test('does not overwrite a module', () => {
    expect(() => generateModule({ root: copy, id: 'net' })).toThrow('exists already')
  })
})

function isElsewhere(file: string): boolean {
  return !file.startsWith('packages/core/src/modules/net/')
}

function linesOfList(folder: string): string[] {
  return readFileSync(join(folder, 'packages/core/src/modules/list.ts'), 'utf8').split('\n')
}

function runInCopy(file: string): Record<string, unknown> {
  const args = ['--conditions=@helix-agents/source', join(copy, file)]
  const { VITEST: _, ...env } = process.env
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('Error')])
  return JSON.parse(stdout) as Record<string, unknown>
}
