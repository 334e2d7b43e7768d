import type { BoundCase } from './bound-case.ts'
import { fillDirectory, MEGABYTE_TEXT, writeRepeated } from './hostile-files.ts'

/** `read_file`, `ls`, `stat` and `glob`. */
export const readingCases: readonly BoundCase[] = [
  {
    name: 'read_file/one-long-line',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'x', textBytes),
    input: () => ({ path: '/a', column: 1_000_000 }),
  },
  {
    name: 'read_file/many-short-lines',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', '\n', textBytes),
    input: () => ({ path: '/a', offset: 1_000_000, limit: Number.MAX_SAFE_INTEGER }),
  },
  {
    name: 'read_file/an-offset-past-everything',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', 'line\n', textBytes),
    input: () => ({ path: '/a', offset: Number.MAX_SAFE_INTEGER }),
  },
  {
    name: 'read_file/text-of-three-bytes-a-character',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', '世', textBytes),
    input: () => ({ path: '/a' }),
  },
  {
    name: 'read_file/binary',
    prepare: ({ fs }, { textBytes }) => writeRepeated(fs, '/a', '\0\u0001', textBytes),
    input: () => ({ path: '/a' }),
  },
  {
    name: 'read_file/a-megabyte-path',
    input: () => ({ path: MEGABYTE_TEXT }),
    results: ['invalid-path'],
  },
  {
    name: 'ls/many-entries',
    prepare: ({ fs }, { entries }) => fillDirectory(fs, '/d', entries),
    input: () => ({ path: '/d', offset: 500 }),
  },
  {
    name: 'ls/long-names',
    prepare: async ({ fs }) => fillDirectory(fs, '/d', 1000, { prefix: 'n'.repeat(240) }),
    input: () => ({ path: '/d' }),
  },
  { name: 'stat/a-megabyte-path', input: () => ({ path: `/${MEGABYTE_TEXT}` }) },
  {
    name: 'stat/a-path-of-many-names',
    input: () => ({ path: '/..'.repeat(300_000) }),
    results: ['invalid-path', 'path-escape'],
  },
  {
    name: 'glob/many-entries',
    prepare: ({ fs }, { entries }) => fillDirectory(fs, '/d', entries),
    input: () => ({ pattern: '**/*', offset: 1000 }),
  },
  {
    name: 'glob/many-stars',
    prepare: ({ fs }) =>
      fillDirectory(fs, `/${'a/'.repeat(100)}d`, 500, { prefix: 'a'.repeat(150) }),
    input: () => ({ pattern: `**/${'a/**/'.repeat(80)}${'*a'.repeat(100)}b` }),
  },
  {
    name: 'glob/many-alternatives',
    prepare: ({ fs }) =>
      fillDirectory(fs, `/${'a/'.repeat(50)}d`, 1000, { prefix: 'a'.repeat(100) }),
    input: () => ({ pattern: `**/a/**/${'{a,*a*a}'.repeat(7)}*a*a*a*b` }),
  },
  {
    name: 'glob/nested-braces',
    input: () => ({ pattern: `${'{a,'.repeat(250)}${'}'.repeat(250)}` }),
  },
  { name: 'glob/open-braces', input: () => ({ pattern: '{'.repeat(1024) }) },
  {
    name: 'glob/a-megabyte-pattern',
    input: () => ({ pattern: MEGABYTE_TEXT }),
    results: ['invalid-pattern'],
  },
]

/** What only a plant can put into a workspace. */
export const plantedCases: readonly BoundCase[] = [
  {
    name: 'glob/a-tree-deeper-than-paths',
    needs: ['deep-tree'],
    prepare: async (subject, { depth }) => subject.target.plants?.deepTree?.(depth),
    input: () => ({ pattern: '**/*' }),
  },
  {
    name: 'grep/a-tree-deeper-than-paths',
    needs: ['deep-tree'],
    prepare: async (subject, { depth }) => subject.target.plants?.deepTree?.(depth),
    input: () => ({ pattern: 'x' }),
  },
  {
    name: 'copy/a-tree-deeper-than-paths',
    needs: ['deep-tree'],
    prepare: async (subject, { depth }) => subject.target.plants?.deepTree?.(depth),
    input: () => ({ from: '/deep', to: '/copy' }),
  },
  {
    name: 'rm/a-tree-deeper-than-paths',
    needs: ['deep-tree'],
    prepare: async (subject, { depth }) => subject.target.plants?.deepTree?.(depth),
    input: () => ({ path: '/deep', opts: { recursive: true } }),
    results: ['ok'],
  },
  {
    name: 'read_file/a-sparse-file',
    needs: ['sparse-file'],
    prepare: async (subject, { sparseBytes }) =>
      subject.target.plants?.sparseFile?.('/sparse', sparseBytes),
    input: () => ({ path: '/sparse', limit: 1 }),
    results: ['ok'],
  },
  {
    name: 'grep/a-sparse-file',
    needs: ['sparse-file'],
    prepare: async (subject, { sparseBytes }) =>
      subject.target.plants?.sparseFile?.('/sparse', sparseBytes),
    input: () => ({ pattern: 'x' }),
    results: ['ok'],
  },
  {
    name: 'edit_file/a-sparse-file',
    needs: ['sparse-file'],
    prepare: async (subject, { sparseBytes }) =>
      subject.target.plants?.sparseFile?.('/sparse', sparseBytes),
    input: () => ({ path: '/sparse', oldText: 'a', newText: 'b' }),
    results: ['too-large'],
  },
]
