// What the Markdown of the repository says must exist: links, anchors, paths, commands.
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { find, read, readManifest, root } from './repository.ts'

const pages = find([
  '*.md',
  '{decisions,docs,examples,packages,scripts}/**/*.md',
  '.changeset/*.md',
])
const sources = find([
  '*.{md,json,ts}',
  '{.changeset,.ci,bench,decisions,docs,examples,packages,scripts}/**/*.{md,json,jsonc,ts,template}',
])

describe.each(pages)('%s', (page) => {
  const links = linksOf(read(page))

  test('links to files that exist', () => {
    const missing = links
      .map((link) => targetOf(page, link))
      .filter((target) => !existsSync(join(root, target.file)))
    expect(missing).toEqual([])
  })

  test('links to headings that exist', () => {
    const missing = links
      .map((link) => targetOf(page, link))
      .filter(
        ({ file, anchor }) => anchor !== '' && file.endsWith('.md') && !hasHeading(file, anchor),
      )
    expect(missing).toEqual([])
  })
})

test('AGENTS.md names paths that exist', () => {
  const named = [...read('AGENTS.md').matchAll(/`(?<path>[\w.-]+(?:\/[\w.*<>-]+)+\/?)`/g)]
    .map((match) => match.groups?.path ?? '')
    .map((path) => path.replaceAll(/<[\w-]+>/g, '*'))
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((path) => find(path.replace(/\/$/, '')).length === 0)).toEqual([])
})

test('every `pnpm` command in the prose is a script', () => {
  const scripts = Object.keys(readManifest('.').scripts ?? {})
  const builtIn = ['install', 'exec', 'add', 'pack']
  const commands = pages.flatMap((page) =>
    [...read(page).matchAll(/(?:`|npx -y )pnpm(?:@12)? (?<script>[a-z][\w:-]*)/g)].flatMap(
      (match) => match.groups?.script ?? [],
    ),
  )
  expect([...new Set(commands)].filter((name) => ![...scripts, ...builtIn].includes(name))).toEqual(
    [],
  )
})

const leaks: readonly (readonly [string, RegExp])[] = [
  ['a path of somebody’s machine', /(?<![\w.:/~-])\/(?:root|work|farm|Users)\/[\w.-]+/],
  ['a number of an issue', /\b(?:issue|ticket) #?\d+\b/i],
  ['a registry host', new RegExp(['registry', 'npmjs', 'org'].join(String.raw`\.`))],
  ['a mark of unfinished work', /\b(?:[T]ODO|[F]IXME|[X]XX)\b/],
]

test.each(leaks)('no file holds %s', (_, pattern) => {
  const own = 'scripts/prose.test.ts'
  expect(sources.filter((file) => file !== own && pattern.test(read(file)))).toEqual([])
})

test('the lockfile names no registry', () => {
  expect(read('pnpm-lock.yaml')).not.toMatch(/tarball: http/)
})

/** Targets of links and images; none that leaves the repository, none in code. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\((?<target>[^)\s]+)\)/g)]
    .flatMap((match) => match.groups?.target ?? [])
    .filter((target) => !/^[a-z]+:/.test(target))
}

function targetOf(page: string, link: string): { file: string; anchor: string } {
  const [path = '', anchor = ''] = link.split('#')
  if (path === '') return { file: page, anchor }
  // Absolute links of the site start at its folder.
  const file = path.startsWith('/') ? join('docs', path) : join(dirname(page), path)
  return { file: asPage(normalize(file)), anchor }
}

/** The site links to pages without their extension. */
function asPage(path: string): string {
  const candidates = [path, `${path.replace(/\/$/, '')}.md`, join(path, 'index.md')]
  return candidates.find((file) => /\.\w+$/.test(file) && existsSync(join(root, file))) ?? path
}

function hasHeading(file: string, anchor: string): boolean {
  const prose = read(file).replaceAll(/^```[\s\S]*?^```$/gm, '')
  const headings = [...prose.matchAll(/^#+ (?<text>.+)$/gm)]
  return headings.some((match) => slug(match.groups?.text ?? '') === anchor)
}

/** As the site and code hosts make anchors of headings, for the characters that we use. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[`*_.,:;!?()/'’"&+]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-')
}
