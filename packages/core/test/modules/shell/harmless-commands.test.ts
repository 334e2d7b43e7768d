import { expect, test } from 'vitest'
import { commandsNotKnownHarmless } from '../../../src/modules/shell/harmless-commands.ts'

/** Each starts a program that its arguments, its files or its settings choose. */
const STARTERS = `
  env xargs find awk git sh bash python3.12 gcc-13 node sudo nice timeout tar vim make npm perl ssh sed npx
  install eslint mypy swift rspec aws gh lua5.4 php8.2 tclsh8.6 sort split rg zgrep file less busybox
  ts-node-esm prettier black ruff phpunit helm kubectl gcloud az vagrant ld-linux-aarch64.so.1 unshare
  python3.12-config clang-17 ghc stack cabal elixir mix erl iex sbcl ocaml nim zig v crystal dart flutter
`
  .trim()
  .split(/\s+/)

/** Each can put a file in the place of an allowed program. */
const WRITERS = ['cp', 'mv', 'ln', 'tee', 'dd', 'uniq', 'shuf', 'xxd']

test('every command that is not known to start no other is named', () => {
  expect(commandsNotKnownHarmless(STARTERS)).toEqual(STARTERS)
  expect(commandsNotKnownHarmless(WRITERS)).toEqual(WRITERS)
  expect(commandsNotKnownHarmless(['no-such-program', 'constructor', '__proto__', 'ls-1'])).toEqual(
    ['no-such-program', 'constructor', '__proto__', 'ls-1'],
  )
})

test('a command is known by its name, and only in a directory of the system', () => {
  expect(commandsNotKnownHarmless(['ls', 'cat', 'grep', 'wc', 'head', '[', 'sha256sum'])).toEqual(
    [],
  )
  expect(commandsNotKnownHarmless(['/bin/ls', '/usr/bin/cat', '/usr/local/bin/jq'])).toEqual([])
  const planted = ['./ls', 'bin/ls', '/tmp/ls', '/bin/../tmp/ls', '//tmp/ls', '/usr/bin/']
  expect(commandsNotKnownHarmless(planted)).toEqual(planted)
})
