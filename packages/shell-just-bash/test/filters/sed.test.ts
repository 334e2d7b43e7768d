// The sed that is made here does what the sed of the machine does, byte for byte.
import { spawnSync } from 'node:child_process'
import { noopLogger, systemClock } from '@helix-agents/core'
import { quoteWord } from '@helix-agents/core/provider'
import { TestSampler } from '@helix-agents/core/testing'
import { justBashShell } from '@helix-agents/shell-just-bash'
import { InMemoryFileSystem } from '@helix-agents/workspace-memory'
import { afterAll, describe, expect, test } from 'vitest'

const sampler = new TestSampler()
const files = new InMemoryFileSystem({ versionPrefix: 'v' })
const shell = justBashShell().open({ files, clock: systemClock, logger: noopLogger })
afterAll(() => shell.close())

const INPUTS = [
  '',
  'one line\n',
  'no end',
  'a\nb\nc\n',
  'apple pie\nbanana\n\ncherry (red) [x]\n  indented\tTab\nfoo+bar {1} a|b\n1234567\nend',
  'start\nx=1\nstop\ny=2\nstart\nz=3\n',
]

const SCRIPTS: readonly (readonly string[])[] = [
  ['s/a/X/'],
  ['s/a/X/2g'],
  ['s/./<&>/3'],
  ['s/x*/-/g'],
  ['s/b*/X/2'],
  ['-E', 's/(a|ab)(c|bcd)?/[\\1|\\2]/g'],
  ['-E', 's/([a-z]+) ([a-z]+)/\\2 \\1/'],
  ['s/\\([a-z]*\\).*/\\1/'],
  ['s/[aeiou]/\\U&/g'],
  ['-E', 's/(\\w)(\\w*)/\\u\\1\\L\\2\\E!/g'],
  ['-E', 's/(\\w+)/\\U\\1/;s/(\\w)/\\l\\1/'],
  ['s/./\\n/2'],
  ['s/a\\|b/X/g'],
  ['s/a\\+/X/g'],
  ['s/a+/X/g'],
  ['-E', 's/\\+/plus/;s/\\{1\\}/N/;s/a\\|b/P/'],
  ['s/(^r/x/;s/(*r/y/'],
  ['s/{1}/N/;s/(red)/R/;s/a|b/P/'],
  ['s/[]x]/S/g;s/[^][]//2'],
  ['s/[[:upper:][:digit:]]/_/g'],
  ['s/[\\n]/N/;s/[\\.]/D/'],
  ['s/^[ \\t]*//;s/[ \\t]*$//'],
  ['s,a/b,X,;s|a\\|b|P|g'],
  ['s/\\bb/B/g;s/\\<c/C/;s/e\\>/E/'],
  ['-E', 's/^(.)(.*)$/\\2\\1/'],
  ['-E', 's/.{2,3}/<&>/g'],
  ['-E', 's/[0-9]{,3}/#/'],
  ['s/*/star/;s/^*b/B/'],
  ['s/a^b/x/;s/$x/y/;s/a$/END/'],
  ['s/A/x/I;s/B/y/gi'],
  ['-n', 's/a/A/gp'],
  ['-n', '2p;$p'],
  ['-n', '$='],
  ['='],
  ['2d'],
  ['2,3d'],
  ['2,1d'],
  ['/b/,/c/d'],
  ['/start/,/stop/s/^/> /'],
  ['/start/,+1d'],
  ['2,~2d'],
  ['0~2d'],
  ['1~2s/^/odd /'],
  ['0,/start/s//FIRST/'],
  ['1,/start/s//FIRST/'],
  ['/a/!d'],
  ['/^$/d;s/^/ok /'],
  ['$!d'],
  ['$!N;s/\\n/ /'],
  ['N;N;s/\\n/,/g'],
  ['N;P;D'],
  ['$!N;P;D'],
  [':a;N;$!ba;s/\\n/,/g'],
  [':a;s/^\\([^,]*[0-9]\\)\\([0-9]\\{3\\}\\)/\\1,\\2/;ta'],
  ['-E', ':a;s/([0-9])([0-9]{3})($|,)/\\1,\\2\\3/;ta'],
  ['-e', ':top', '-e', 's/a/b/', '-e', 't top', '-e', 's/b/c/'],
  ['s/a/X/;T;s/$/ was/'],
  ['/a/b end;s/^/no /;:end'],
  ['1!G;h;$!d'],
  ['-n', '1!G;h;$p'],
  ['G'],
  ['-n', 'H;${x;s/\\n/ /g;p}'],
  ['x;$G'],
  ['n;d'],
  ['$!{n;s/^/second /}'],
  ['y/abc/xyz/'],
  ['y/é/e/;y,a/b,1\\/2,'],
  ['1i\\\ntop'],
  ['1i top', '-e', 'x'],
  ['$a bottom'],
  ['/a/c changed'],
  ['2,3c once'],
  ['$!c last stays'],
  ['-e', 'a\\', '-e', 'line one\\', '-e', 'line two'],
  ['/b/{s//X/;s/X/Y/}'],
  ['/a/{/p/{s/^/both /;b};s/^/one /}'],
  ['2q'],
  ['2q3'],
  ['2Q'],
  ['-n', 'l'],
  ['-s', '-n', '$p'],
  ['l;d'],
  ['z;s/^$/empty/'],
  ['\\,a,d'],
  ['s/\\(.\\)\\(.\\)/\\2\\1/g'],
  ['s/./&&/g;s/./&&/g'],
  ['s/.*/"&"/'],
  ['s/a/\\&/;s/b/\\\\/;s/c/\\//'],
  ['s/a/x\\\ny/'],
  ['M;p'],
  ['s/a'],
  ['s/a/b/x'],
  ['s/\\(a/b/'],
  ['b nowhere'],
  ['{p'],
  ['p}'],
  ['y/ab/x/'],
  [':a;N;$!ba;s/^b/X/Mg;s/e$/Y/gM'],
  ['-z', 's/\\n/,/g'],
  ['#n\np'],
  ['p # comment\n# more\ns/a/b/ # end'],
  ['--quiet', '--expression=p'],
  ['-ne', '/a/p'],
  ['-nE', 's/(a)/<\\1>/p'],
]

describe('sed', () => {
  test('does what GNU sed does', { timeout: 120_000 }, async () => {
    const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }
    const differences: unknown[] = []
    const pairs = SCRIPTS.flatMap((args) => INPUTS.map((input) => ({ args, input })))
    for (const { args, input } of sampler.pick('scripts', pairs, 120)) {
      const wanted = spawnSync('sed', args, { input: Buffer.from(input), env, encoding: 'latin1' })
      await files.writeFile('/in', input)
      const line = `${['sed', ...args].map(quoteWord).join(' ')} < in`
      const result = await shell.run(line)
      const given = Buffer.from(result.stdout).toString('latin1')
      if (given === wanted.stdout && result.exitCode === wanted.status) continue
      const said = new TextDecoder().decode(result.stderr)
      differences.push({
        args,
        input,
        given,
        said,
        wanted: wanted.stdout,
        codes: [result.exitCode, wanted.status],
      })
    }
    expect(differences).toEqual([])
  })

  test('knows characters of several bytes, and leaves other bytes alone', async () => {
    await files.writeFile('/in', 'été 水🍌\n')
    const { stdout } = await shell.run("sed -E 's/(.)(.)/\\2\\1/g;s/é/\\U&/;y/水/火/' in")
    expect(new TextDecoder().decode(stdout)).toBe('tÉ é🍌火\n')
    await files.writeFile('/in', Uint8Array.of(0xff, 0x61, 0xe9, 0x0a))
    const bytes = await shell.run("sed 's/a/b/;s/^./&&/' in")
    expect([...bytes.stdout]).toEqual([0xff, 0xff, 0x62, 0xe9, 0x0a])
  })

  test('reads, writes and changes files', async () => {
    await files.writeFile('/one', 'a\nb')
    await files.writeFile('/two', 'c\n')
    const shown = await shell.run(
      "sed -n '/a/w out' one; cat out; sed '1r two' one; echo; sed 1R\\ two one two; sed -i.bak 's/./&&/' one two; cat one two one.bak; sed -n '$=' one two; sed -s -n 'F;$p' one two; echo 's/c/f/' > prog; sed -f prog two; sed s/a/b/ one missing; echo $?",
    )
    expect(new TextDecoder().decode(shown.stdout)).toBe(
      'a\na\nc\nb\na\nc\nb\nc\naa\nbbcc\na\nb3\none\none\nbb\ntwo\ncc\nfc\nba\nbb2\n',
    )
  })
})
