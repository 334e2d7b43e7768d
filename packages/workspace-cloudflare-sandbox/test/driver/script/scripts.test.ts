// What each script is given: names and bounds, and which sources follow.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { REFUSE_LINKS, filePrelude } from '../../../src/driver/script/file-prelude.ts'
import {
  emptyScript,
  ensureScript,
  measureScript,
} from '../../../src/driver/script/lifecycle-scripts.ts'
import { liveScript, pieceScript } from '../../../src/driver/script/live-script.ts'
import {
  homeOf,
  killProcessScript,
  listProcessesScript,
  processOutputScript,
  startScript,
} from '../../../src/driver/script/process-scripts.ts'
import { sayFunction } from '../../../src/driver/script/reply.ts'
import { collectScript, runScript, stopScript } from '../../../src/driver/script/run-script.ts'
import { type ScriptName, SCRIPTS } from '../../../src/driver/script/scripts.generated.ts'
import {
  copyScript,
  listScript,
  makeDirectoryScript,
  moveScript,
  realPathScript,
  removeScript,
  searchScript,
  statScript,
} from '../../../src/driver/script/tree-scripts.ts'
import { appendScript, writeScript } from '../../../src/driver/script/write-script.ts'
import { assignedBy } from './assigned.ts'

const settings = { root: '/workspace', scratch: '/scratch' }
const names = { nonce: '0001', epoch: 'e7' }
const sources = (...parts: readonly ScriptName[]): string =>
  parts.map((name) => SCRIPTS[name]).join('')

const given = (script: string): string => assignedBy(script, 2)

it('each script of the folder is embedded, and is not empty', () => {
  const folder = join(import.meta.dirname, '../../../src/driver/script/bash')
  const files = readdirSync(folder).map((name) => name.replace(/\.sh$/, ''))
  expect(Object.keys(SCRIPTS).toSorted()).toEqual(files.toSorted())
  for (const script of Object.values(SCRIPTS)) expect(script).toMatch(/\n$/)
})

describe('a script on a path', () => {
  const search = { literal: 'x', ignoreCase: false, maxFileBytes: 9.5, maxFiles: 3 }
  const below = { depth: 4, bytes: 5 }
  it.each<[string, string, string, readonly ScriptName[]]>([
    ['stat', statScript('/a'), 'path=/a', ['stat']],
    ['real path', realPathScript('/a', true), 'path=/a last=1', ['real-path']],
    ['real path of a link', realPathScript('/a', false), 'path=/a last=', ['real-path']],
    ['make', makeDirectoryScript('/a', true), 'path=/a recursive=1', ['make-directory']],
    ['remove', removeScript('/a', false), 'path=/a recursive=', ['remove']],
    ['empty', emptyScript('/a'), 'directory=/a', ['empty']],
    ['measure', measureScript('/a'), 'directory=/a', ['measure']],
    [
      'list',
      listScript('/a', { isRecursive: true, maxEntries: 9, skip: '.h[x]*?\\' }),
      String.raw`path=/a recursive=1 most=10 skip='.h\[x\]\*\?\\'`,
      ['list'],
    ],
    [
      'list of all',
      listScript('/a', { isRecursive: false, maxEntries: 0, skip: undefined }),
      'path=/a recursive= most=1 skip=',
      ['list'],
    ],
    [
      'copy',
      copyScript('/a', '/b', { overwrite: true, below }),
      'from=/a to=/b overwrite=1 depth=4 bytes=5',
      ['transfer', 'copy'],
    ],
    [
      'move',
      moveScript('/a', '/b', {}),
      'from=/a to=/b overwrite= depth= bytes=',
      ['transfer', 'move'],
    ],
    [
      'search',
      searchScript('/a', search),
      'path=/a literal=x flags=-laFZs most=9 count=4 skip=',
      ['search'],
    ],
    [
      'search of any case',
      searchScript('/a', { ...search, ignoreCase: true, maxFileBytes: Infinity, skip: '.h' }),
      'path=/a literal=x flags=-laFZsi most= count=4 skip=.h',
      ['search'],
    ],
  ])('%s', (_, script, assigned, parts) => {
    expect(script).toBe(`${assigned}\n${sources(...parts)}`)
  })
  it.each([
    ['ä', false, "'ä'"],
    ['ä', true, "''"],
    ['x', true, 'x'],
    ['\x7f', true, "'\x7f'"],
    ['\0', false, "''"],
  ])('a search for %j, of any case: %s, looks for %s', (literal, ignoreCase, expected) => {
    const script = searchScript('/a', { ...search, literal, ignoreCase })
    expect(assignedBy(script)).toContain(`literal=${expected} `)
  })
})

describe('a script that writes', () => {
  const text = { from: 'text', text: 'new' } as const
  const staged = { from: 'staged', path: '/s', sizeBytes: 3 } as const
  it.each([
    [text, {}, 'kind=text content=new absent= checked= version='],
    [text, { ifAbsent: true }, 'kind=text content=new absent=1 checked= version='],
    [text, { ifVersion: 'v' }, 'kind=text content=new absent= checked=1 version=v'],
    [staged, {}, 'kind=staged staged=/s size=3 filled= absent= checked= version='],
    [
      { ...staged, isFilled: true },
      {},
      'kind=staged staged=/s size=3 filled=1 absent= checked= version=',
    ],
    [
      { from: 'base64', text: 'bmV3' } as const,
      {},
      'kind=base64 content=bmV3 absent= checked= version=',
    ],
  ])('%j with %j', (source, conditions, expected) => {
    const script = writeScript('/a', source, conditions)
    expect(script).toBe(`path=/a ${expected}\n${sources('content', 'write')}`)
  })
  it('appends up to a limit', () => {
    expect(appendScript('/a', text, { addedBytes: 3, maxBytes: 9 })).toBe(
      `path=/a kind=text content=new added=3 most=9\n${sources('content', 'append')}`,
    )
    expect(assignedBy(appendScript('/a', text, { addedBytes: 3 }))).toMatch(/ added=3 most=$/)
  })
})

describe('a script on processes', () => {
  const start = { id: 'a1', argv: ['x', 'y z'], title: 't', cwd: '/workspace/d', env: { A: 'b' } }
  const common = 'd=/scratch hx_want=e7'
  const supervisor = `'${SCRIPTS.supervisor.replaceAll("'", String.raw`'\''`)}'`
  const whole = (assigned: string, ...parts: readonly ScriptName[]): string =>
    `exec 2>/dev/null\n${common}${assigned}\n${sayFunction('0001')}\n${sources('epoch', ...parts)}`
  const started = (home: string, program: string): string =>
    ` q=/scratch/${home} hx_cwd=/workspace/d hx_root=/workspace hx_program=${program} hx_title=t hx_supervisor=${supervisor} hx_argv=(x 'y z') hx_variables=('A=b')`

  it('starts one, or the interpreter of a context', () => {
    const parts = ['go-to', 'describe', 'process-start'] as const
    expect(startScript(settings, names, start)).toBe(whole(started('p-a1', ''), ...parts))
    const context = startScript(settings, names, { ...start, kind: 'context' })
    expect(context).toBe(whole(started('c-a1', 'x'), ...parts))
    expect([homeOf('process', 'a1'), homeOf('context', 'a1')]).toEqual(['p-a1', 'c-a1'])
  })
  it('lists them, reads their outputs and ends them', () => {
    expect(listProcessesScript(settings, names)).toBe(whole('', 'describe', 'process-list'))
    const from = { id: 'a1', stdoutOffset: 3, stderrOffset: 4 }
    expect(processOutputScript(settings, names, from)).toBe(
      whole(
        ' q=/scratch/p-a1 out=3 err=4 piece=1048576',
        ...(['describe', 'piece', 'process-output'] as const),
      ),
    )
    const ending = (home: string, context: string): string =>
      whole(
        ` q=/scratch/${home} n=a1 grace=1000 context=${context} caller=0001 LC_ALL=C`,
        ...(['tree', 'process-kill'] as const),
      )
    expect(killProcessScript(settings, names, { id: 'a1' })).toBe(ending('p-a1', ''))
    const context = killProcessScript(settings, names, { id: 'a1', kind: 'context' })
    expect(context).toBe(ending('c-a1', '1'))
  })
})

describe('a script on a command', () => {
  const run = { nonce: '0001', mark: 'm1', slot: 's-1', epoch: 'e7' }
  const request = {
    argv: ['x'],
    cwd: '/workspace',
    env: { A: 'b' },
    maxOutputBytes: 10,
    spillDirectory: '/spill',
    isLive: false,
  }
  const common = 'n=m1 d=/scratch hx_slot=s-1 hx_grace=1000'
  const answer = 'hx_most=10 hx_spill=/spill hx_live= hx_channel='
  it('runs it with its bounds, its variables and its mark', () => {
    const script = runScript(settings, run, request)
    expect(given(script).startsWith(`${common} hx_want=e7 ${answer} hx_cwd=/workspace`)).toBe(true)
    expect(script).toContain(` hx_root=/workspace hx_limit= hx_backlog=4194304 hx_tree='`)
    expect(script).toContain(` hx_argv=(x) hx_variables=('A=b' 'HELIX_WS_PROCESS=m1')`)
    expect(script.startsWith('exec 2>/dev/null\nt0=$EPOCHREALTIME\n')).toBe(true)
    const parts = [
      'epoch',
      'go-to',
      'run-files',
      'capture',
      'run-answer',
      'leftover',
      'run',
    ] as const
    expect(script.endsWith(`${sayFunction('0001')}\n${sources(...parts)}`)).toBe(true)
    expect(runScript(settings, run, { ...request, timeoutMs: 1.5 })).toContain(' hx_limit=1500 ')
    const live = runScript(settings, run, { ...request, isLive: true, maxChannelBytes: 7 })
    expect(live).toContain('hx_spill=/spill hx_live=1 hx_channel=7')
    expect(() => runScript(settings, run, { ...request, env: { 'A B': '' } })).toThrow(
      'A B is no name of a variable',
    )
  })
  it('collects what one left, and stops one', () => {
    const collect = collectScript(settings, run, { ...request, exitCode: 137 })
    expect(given(collect)).toBe(`${common} hx_want=e7 ${answer} r=137`)
    const parts = ['epoch', 'run-files', 'capture', 'run-answer', 'tree', 'run-collect'] as const
    expect(collect.endsWith(sources(...parts))).toBe(true)
    const stop = stopScript(settings, run)
    expect(given(stop)).toBe(`${common} hx_channel=`)
    expect(stop.endsWith(sources('run-files', 'tree', 'run-stop'))).toBe(true)
  })
  it('reads on where it was', () => {
    const poll = { nonce: '0001', slot: 's-1', stdoutOffset: 3, stderrOffset: 4 }
    const live = (more: string): string =>
      `exec 2>/dev/null\nk=/scratch/s-1 out=3 err=4 more=${more} piece=262144\n${sayFunction('0001')}\n${sources('piece', 'live')}`
    expect(liveScript(settings, poll)).toBe(live(''))
    expect(liveScript(settings, { ...poll, channelOffset: 5 })).toBe(live('5'))
    expect(pieceScript('0001', '/f', 6)).toBe(
      `exec 2>/dev/null\npath=/f offset=6 piece=262144\n${sayFunction('0001')}\n${sources('piece')}piece "$path" "$offset"\nsay piece\n`,
    )
  })
})

it('a container is marked, and scripts on files check the mark', () => {
  expect(ensureScript(settings, '0001', 'e9')).toBe(
    `exec 2>/dev/null\nd=/scratch R=/workspace T=.helix-write- fresh=e9\n${sayFunction('0001')}\n${sources('ensure')}`,
  )
  const prelude = filePrelude(settings, '0001', 'e7')
  expect(prelude).toContain(
    "export LC_ALL=C\nd=/scratch R=/workspace N=0001 T=.helix-write- hx_want=e7 refuse= F='",
  )
  expect(prelude.endsWith(`${sayFunction('0001')}\n${sources('epoch', 'paths')}`)).toBe(true)
  expect(REFUSE_LINKS).toBe('refuse=1')
})
