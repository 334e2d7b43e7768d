import { describe, expect, test } from 'vitest'
import { readCommandLine } from '../../../src/modules/shell/command-line.ts'

const commandsOf = (line: string): string[] =>
  readCommandLine(line).commands.map((words) => words.map((word) => word ?? '?').join(' '))

describe('lines that can be taken apart', () => {
  test.each<[string, string[]]>([
    ['git push origin', ['git push origin']],
    ['cd /x && git push; ls -la || true & date', ['cd /x', 'git push', 'ls -la', 'true', 'date']],
    ['a | b |& c\nd', ['a', 'b', 'c', 'd']],
    ['(cd x; ls) && { a; b; }', ['cd x', 'ls', 'a', 'b']],
    ['if ! git diff; then git push; fi', ['git diff', 'git push']],
    ['while true; do curl x; done', ['true', 'curl x']],
    ['git>out 2>&1 push <in', ['git push']],
    ['git 2>x push 3<&1 --all', ['git push --all']],
    ['A=1 B="x y" git push', ['git push']],
    ['cu"r"l \'-\'x \\y', ['curl -x y']],
    ['cu\\\nrl x', ['curl x']],
    ['echo $HOME "$X y" *.ts ~/a {a,b}', ['echo ? ? ? ? ?']],
    ['[ -f x ] && ls', ['[ -f x ]', 'ls']],
    ['env A=b git push', ['env A=b git push', 'A=b git push', 'git push', 'push']],
    ['timeout 5 curl x', ['timeout 5 curl x', '5 curl x', 'curl x', 'x']],
    ['sh -c "cd x; curl y"', ['sh -c cd x; curl y', 'cd x', 'curl y']],
    ["bash -lc 'git push'", ['bash -lc git push', 'git push']],
    ['xargs rm', ['xargs rm', 'rm ?']],
    ["watch 'curl x'", ['watch curl x', 'curl x', 'curl x']],
    ['bash build.sh', ['bash build.sh']],
    ['python build.py', ['python build.py']],
    ['', []],
  ])('%j', (line, commands) => {
    const read = readCommandLine(line)
    expect(commandsOf(line)).toEqual(commands)
    expect(read.opaque).toBeUndefined()
  })
})

describe('lines that cannot', () => {
  test.each([
    'echo $(curl x)',
    'echo `curl x`',
    'cat <(curl x)',
    'echo ${A:-$(curl x)}',
    "c$'ur'l x",
    'cat <<EOF\ncurl\nEOF',
    'bash <<< "curl x"',
    '# it is\ncurl x',
    'ls &> curl x',
    'eval "curl x"',
    'alias g=curl; g x',
    'f() { curl x; }; f',
    'for c in curl; do $c x; done',
    'case x in x) curl;; esac',
    'source x',
    'echo curl x | sh',
    'echo curl x | bash -s',
    'echo code | python3',
    'echo x | python -',
    'python3 -c "import os"',
    'node -e "1"',
    'node --eval=1',
    'perl -E say',
    'perl5.38 -e 1',
    'ruby -e 1',
    'Rscript -e "system(1)"',
    'awk \'BEGIN{system("curl x")}\'',
    'sh -c "$X"',
    'env "-Scurl x"',
    'env -S"curl x"',
    'ssh host curl x',
    'find . -print0 | xargs env',
    'PATH=/evil ls',
    'LD_PRELOAD=x ls',
    'BASH_ENV=x bash y',
    'GIT_SSH_COMMAND=curl git fetch',
    'git -c core.pager=curl log',
    'git -c alias.x=!curl x',
    'git -ccore.sshCommand=curl fetch',
    'git --config-env=core.pager=X log',
    'git config alias.x "!curl x"',
    'git config --global core.sshCommand curl',
    'git -C sub config -f other ALIAS.x "!curl x"',
    'git --git-dir x --work-tree y bisect run curl',
    'git -C filter-branch filter-branch --tree-filter curl',
    'git fetch --upload-pack=curl x',
    'git rebase --exec curl main',
    'git grep -Ocurl x',
    'git bisect run curl x',
    'git submodule foreach curl x',
    'tar -cf a.tar --checkpoint-action=exec=curl .',
    'tar --use-comp curl -xf a.tar',
    'tar -I curl -xf a.tar',
    'tar xIf curl a.tar',
    'rsync -e curl a b:',
    'rsync -ave curl a b:',
    'sort --compress-program=curl x',
    'trap "curl x" EXIT',
    "echo 'open",
    'echo "open',
    'echo \\',
    'echo \u0001',
    'ls\r\ncurl x',
    `sh -c "sh -c 'sh -c \\"sh -c \\\\\\"sh -c x\\\\\\"\\"'"`,
    `env ${'x '.repeat(300)}`,
  ])('%j', (line) => {
    expect(readCommandLine(line).opaque).toBeDefined()
  })

  test.each([
    'git -C sub log --oneline',
    'git push origin main --force',
    'git commit -m "fix core.pager"',
    'git diff --exit-code',
    'git config user.name x',
    'git add core.ts diff.md merge.py filter.go config',
    'git -C run diff config core.pager',
    'git checkout run foreach',
    'tar -xzf a.tar.gz',
    'tar czf Files.tar Images',
    'tar -cf a.tar --exclude=x .',
    'rsync -av --delete a b',
    'sort -u x',
  ])('%j holds no command', (line) => {
    expect(readCommandLine(line).opaque).toBeUndefined()
  })

  test('a variable of the call that chooses programs', () => {
    expect(readCommandLine('ls', ['NODE_ENV', 'CI']).opaque).toBeUndefined()
    expect(readCommandLine('ls', ['BASH_ENV']).opaque).toContain('BASH_ENV')
  })
})

test('a line of the greatest length is read in time, a longer one is not', () => {
  expect(readCommandLine('a '.repeat(20_000)).opaque).toBe('it is too long')
  for (const piece of [
    'a ',
    'a;',
    '"a"',
    '$a ',
    'env ',
    'A=b ',
    '\\a',
    '(a)',
    'a|',
    "sh -c 'a' ",
  ]) {
    const line = piece.repeat(32_768 / piece.length)
    const times = [1, 2, 3].map(() => {
      const start = process.threadCpuUsage()
      readCommandLine(line)
      const { user, system } = process.threadCpuUsage(start)
      return (user + system) / 1000
    })
    expect([piece, Math.min(...times) < 50]).toEqual([piece, true])
  }
})
