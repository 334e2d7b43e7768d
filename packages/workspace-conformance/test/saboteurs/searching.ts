import type { GrepMatch, GrepOptions, GrepResult } from '@helix-agents/core/provider'
import { type FsSaboteur, input, recode, replace, result, swallow } from './break-file-system.ts'

/** Compiles the pattern another way. */
const globAs = (change: (pattern: string) => string): FsSaboteur =>
  input('glob', (pattern, options) => [change(pattern), options])

const grepWithout = (...dropped: readonly (keyof GrepOptions)[]): FsSaboteur =>
  input('grep', (pattern, options = {}) => [
    pattern,
    Object.fromEntries(
      Object.entries(options).filter(([key]) => !dropped.some((option) => option === key)),
    ),
  ])

const eachMatch = (change: (match: GrepMatch) => GrepMatch): FsSaboteur =>
  result('grep', (found: GrepResult) => ({ ...found, matches: found.matches.map(change) }))

const complete = result('grep', (found) => ({ ...found, countIsComplete: true }))

const EMPTY: GrepResult = {
  matches: [],
  skippedPaths: [],
  skippedBinaryPaths: [],
  countIsComplete: true,
}

export const globSaboteurs: Readonly<Record<string, FsSaboteur>> = {
  'fs/glob/a-star-stays-in-one-directory': globAs((it) => it.replace('/*', '/**/*')),
  'fs/glob/two-stars-cross-directories': globAs((it) => it.replace('**', '*')),
  'fs/glob/a-question-mark-is-one-character': globAs((it) => it.replaceAll('?', '*')),
  'fs/glob/braces-are-alternatives': globAs((it) => it.replace('{', '\\{')),
  'fs/glob/a-class-is-one-of-its-characters': globAs((it) => it.replace('[', '\\[')),
  'fs/glob/a-named-class-is-its-members': globAs((it) => it.replace('[:lower:]', 'lower')),
  'fs/glob/a-plain-path-is-itself': result('glob', (paths, pattern) =>
    pattern.includes('*') ? paths : [],
  ),
  'fs/glob/a-leading-slash-is-the-search-directory': result('glob', (paths, pattern) =>
    pattern.startsWith('/') ? [] : paths,
  ),
  'fs/glob/dot-files-need-no-care': result('glob', (paths) =>
    paths.filter((path) => !path.includes('/.')),
  ),
  'fs/glob/directories-are-not-listed': result('glob', (paths) => [...paths, '/src/lib']),
  'fs/glob/is-relative-to-path': input('glob', (pattern) => [pattern]),
  'fs/glob/stops-at-the-limit': input('glob', (pattern) => [pattern]),
  'fs/glob/is-sorted-across-directories': result('glob', (paths) => paths.toReversed()),
  'fs/glob/a-missing-path-is-not-found': swallow('glob', []),
  'fs/glob/leaves-stored-outputs-out': replace((good) => ({
    glob: async (pattern, options) => [
      ...(await good.glob(pattern, { ...options, path: '/.helix' }).catch(() => [])),
      ...(await good.glob(pattern, options)),
    ],
  })),
}

export const grepSaboteurs: Readonly<Record<string, FsSaboteur>> = {
  'fs/grep/literal-text-is-not-a-pattern': grepWithout('mode'),
  'fs/grep/a-regex-is-the-default': input('grep', (pattern, options) => [
    pattern,
    { mode: 'literal', ...options },
  ]),
  'fs/grep/ignores-case-on-demand': grepWithout('ignoreCase'),
  'fs/grep/case-matters-otherwise': input('grep', (pattern, options) => [
    pattern,
    { ...options, ignoreCase: true },
  ]),
  'fs/grep/lines-count-from-1-without-their-end': eachMatch((match) => ({
    ...match,
    line: `${match.line}\r`,
  })),
  'fs/grep/the-last-line-needs-no-end': result('grep', (found) => ({
    ...found,
    matches: found.matches.slice(0, -1),
  })),
  'fs/grep/anchors-mean-the-line': input('grep', (pattern, options) => [
    pattern.replace('$', '\\z'),
    { ...options, mode: 'literal' },
  ]),
  'fs/grep/several-hits-in-one-line-are-one': result('grep', (found) => ({
    ...found,
    matches: [...found.matches, ...found.matches],
  })),
  'fs/grep/context-is-before-and-after': grepWithout('context'),
  'fs/grep/is-sorted-by-path-then-line': result('grep', (found) => ({
    ...found,
    matches: found.matches.toReversed(),
  })),
  'fs/grep/stops-at-the-limit-and-says-so': complete,
  'fs/grep/no-match-is-complete': result('grep', (found) => ({ ...found, countIsComplete: false })),
  'fs/grep/large-files-are-named-not-searched': grepWithout('maxGrepFileSizeMb'),
  'fs/grep/binary-files-are-named-not-searched': complete,
  'fs/grep/searches-below-path': grepWithout('path'),
  'fs/grep/include-glob-chooses-files': grepWithout('includeGlob'),
  'fs/grep/a-missing-path-is-not-found': swallow('grep', EMPTY),
  'fs/grep/a-broken-pattern-is-rejected': recode('grep', 'invalid-pattern'),
  'fs/grep/a-hostile-pattern-ends': result('grep', (found) => ({
    ...found,
    matches: [{ path: '/a', lineNumber: 1, line: 'gave up' }],
  })),
  'fs/grep/sees-every-change': replace((good) => {
    const results = new Map<string, Promise<GrepResult>>()
    return {
      grep: (pattern, options) => {
        const known = results.get(pattern) ?? good.grep(pattern, options)
        results.set(pattern, known)
        return known
      },
    }
  }),
  'fs/grep/leaves-stored-outputs-out': replace((good) => ({
    grep: (pattern, options) => good.grep(pattern, { ...options, path: '/.helix' }),
  })),
}
