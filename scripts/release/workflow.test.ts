// The release workflow, as far as it can be tried without a forge: its schema, its commands, and
// the step that makes the next versions, in a copy.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { find, packageFolders, readManifest, root } from '../repository.ts'

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>
}

interface Step {
  readonly run?: string
  readonly with?: Readonly<Record<string, string>>
}

const workflows = find('.github/workflows/*.yml')

test.each(workflows)('%s is a workflow', (file) => {
  const program = join(root, 'node_modules/.bin/action-validator')
  expect(() => execFileSync(program, [join(root, file)], { stdio: 'pipe' })).not.toThrow()
})

test.each(workflows)('the commands of %s are scripts', (file) => {
  const { jobs } = parse(readFileSync(join(root, file), 'utf8')) as Workflow
  const steps = Object.values(jobs).flatMap((job) => job.steps)
  const commands = steps.flatMap(({ run = '', with: inputs = {} }) => [
    run,
    inputs.version ?? '',
    inputs.publish ?? '',
  ])
  const scripts = readManifest('.').scripts ?? {}
  const wanted = commands.flatMap((one) => /^pnpm (?<name>[\w:-]+)/.exec(one)?.groups?.name ?? [])
  expect(wanted).toContain('version-packages')
  expect(wanted.filter((name) => name !== 'install' && !(name in scripts))).toEqual([])
})

test('the next versions are made for all packages at once', () => {
  const copy = mkdtempSync(join(tmpdir(), 'helix-versions-'))
  try {
    const files = ['.changeset/config.json', 'pnpm-workspace.yaml', 'package.json']
    for (const file of [...files, ...find('{packages,examples,docs}/**/package.json')]) {
      cpSync(join(root, file), join(copy, file), { recursive: true })
    }
    const change = '---\n"@helix-agents/core": minor\n---\n\nA change.\n'
    writeFileSync(join(copy, '.changeset/change.md'), change)
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    execFileSync('git', ['init', '-q'], { cwd: copy })
    const before = readManifest('packages/core').version
    execFileSync(join(root, 'node_modules/.bin/changeset'), ['version'], {
      cwd: copy,
      stdio: 'pipe',
    })
    const versions = packageFolders().map((folder) => {
      const file = join(copy, 'packages', folder, 'package.json')
      return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
    })
    expect(new Set(versions).size).toBe(1)
    expect(versions[0]).not.toBe(before)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}, 120_000)
