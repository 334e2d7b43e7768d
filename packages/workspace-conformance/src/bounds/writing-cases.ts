import type { BoundCase } from './bound-case.ts'
import { fillDirectory, MEGABYTE_TEXT, writeRepeated } from './hostile-files.ts'

const DEEP_PATH = `/${'d/'.repeat(2000)}d`

/** Tools that change files. */
export const writingCases: readonly BoundCase[] = [
  {
    name: 'write_file/the-largest-content',
    input: ({ textBytes }) => ({ path: '/a', content: 'ü'.repeat(textBytes / 2) }),
    results: ['ok'],
  },
  {
    name: 'write_file/content-over-the-limit',
    input: () => ({ path: '/a', content: MEGABYTE_TEXT.repeat(12) }),
    results: ['too-large'],
  },
  { name: 'write_file/a-deep-path', input: () => ({ path: DEEP_PATH, content: 'x' }) },
  {
    name: 'append_file/to-a-large-file',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'x', textBytes / 2),
    input: ({ textBytes }) => ({ path: '/a', content: 'ü'.repeat(textBytes / 4) }),
    results: ['ok'],
  },
  { name: 'mkdir/a-deep-path', input: () => ({ path: DEEP_PATH, opts: { recursive: true } }) },
  {
    name: 'rm/many-entries',
    prepare: ({ fs }, { entries }) => fillDirectory(fs, '/d', entries),
    input: () => ({ path: '/d', opts: { recursive: true } }),
    results: ['ok'],
  },
  {
    name: 'copy/many-entries',
    prepare: ({ fs }, { entries }) => fillDirectory(fs, '/d', entries),
    input: () => ({ from: '/d', to: '/e' }),
    // A provider may reject what it cannot do at once, as its documentation says.
    results: ['ok', 'too-large'],
  },
  {
    name: 'copy/a-large-file',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'x', textBytes),
    input: () => ({ from: '/a', to: '/b' }),
    results: ['ok'],
  },
  {
    name: 'move/many-entries',
    prepare: ({ fs }, { entries }) => fillDirectory(fs, '/d', entries),
    input: () => ({ from: '/d', to: '/e' }),
    // A provider may reject what it cannot do at once, as its documentation says.
    results: ['ok', 'too-large'],
  },
]

/** Edits and patches. */
export const editingCases: readonly BoundCase[] = [
  {
    name: 'edit_file/replace-all-in-one-line',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'a,', textBytes / 4),
    input: () => ({ path: '/a', oldText: ',', newText: ';', replaceAll: true }),
  },
  {
    name: 'edit_file/growth-over-the-limit',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'a', textBytes / 8),
    input: () => ({ path: '/a', oldText: 'a', newText: 'b'.repeat(50), replaceAll: true }),
    results: ['too-large'],
  },
  {
    name: 'edit_file/no-match-in-a-large-file',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'some line\n', textBytes),
    input: () => ({
      path: '/a',
      oldText: `some lime\n${'some line\n'.repeat(1000)}x`,
      newText: 'y',
    }),
  },
  {
    name: 'multi_edit/many-edits',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'a line\n', textBytes),
    input: ({ edits }) => ({
      path: '/a',
      edits: Array.from({ length: edits }, (_, i) => ({
        oldText: 'a line\n',
        newText: `a line\n${i}`,
        replaceAll: i % 100 === 0,
      })),
    }),
  },
  {
    name: 'apply_patch/a-hunk-that-fits-nowhere',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'line\n', textBytes / 4),
    input: () => ({
      patch: `--- a/a\n+++ b/a\n@@ -1,3001 +1,3001 @@\n${' line\n'.repeat(3000)}-gone\n+new\n`,
    }),
  },
  {
    name: 'apply_patch/many-hunks',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'line\n', textBytes / 4),
    input: ({ edits }) => ({
      patch: `--- a/a\n+++ b/a\n${Array.from({ length: edits }, (_, i) => `@@ -${i * 4 + 1},2 +${i * 4 + 1},2 @@\n line\n-line\n+lime\n`).join('')}`,
    }),
  },
]
