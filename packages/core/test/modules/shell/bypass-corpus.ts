import type { PolicyErrorCode } from '../../../src/errors/policy-error.ts'

/** A command line that must not get through `ls, cat, echo, git, grep`, and why. */
export interface Bypass {
  readonly line: string
  readonly code: PolicyErrorCode
}

const META = 'shell-metacharacter'
const EXPANSION = 'expansion'
const COMMAND = 'command-not-allowed'

const all = (code: PolicyErrorCode, lines: readonly string[]): Bypass[] =>
  lines.map((line) => ({ line, code }))

/** Every metacharacter, in each position where it has its meaning. */
const operators = [';', '&', '|', '<', '>', '(', ')', '$', '`', '\n', '\r', '\0'].flatMap((c) =>
  all(META, [
    `ls${c}id`,
    `ls ${c} id`,
    `ls a${c}`,
    `${c}ls`,
    `ls 'a'${c}id`,
    `ls "a"${c}id`,
    `ls \\a${c}id`,
  ]),
)

const keepsMeaningInDoubleQuotes = ['$', '`', '!', '\n', '\r', '\0'].flatMap((c) =>
  all(META, [`ls "${c}id"`, `ls "a${c}b`, `ls "'${c}'"`, `ls "a\\a${c}b"`, `ls "\\\\${c}id"`]),
)

const controlsInSingleQuotes = [
  '\n',
  '\r',
  '\0',
  '\u0001',
  '\u0007',
  '\b',
  '\u001B',
  '\u007F',
  '\u0085',
].map((c) => `ls 'a${c}id'`)

const expansions = ['*', '?', '[', ']', '{', '}'].flatMap((c) =>
  all(EXPANSION, [`ls ${c}`, `ls a${c}b`, c, `ls ''${c}`, `ls "a"${c}`, `ls 'a'${c}'b'`]),
)

const lookAlikes = [
  ...Array.from('\u037E\uFF1B\uFE54\u204F\u061B'), // semicolons
  ...Array.from('\uFF5C\u2223\u01C0\u2502\u00A6'), // vertical bars
  ...Array.from(
    '\uFF06\uFE60\u214B\uFF04\uFE69\uFF40\u02CB\u2018\u2019\u201C\u201D\u2032\u2033\uFF02\uFF07',
  ),
  ...Array.from(
    '\uFF1C\uFF1E\u2039\u203A\u02C2\u02C3\uFF08\uFF09\uFF0A\u2217\uFF1F\uFF3B\uFF5B\uFF5E\u223C\uFF03',
  ),
  ...Array.from(
    '\uFF0F\u2044\u2215\u29F8\uFF3C\uFE68\u2216\u2010\u2011\u2012\u2013\u2014\u2212\uFF0D\uFE63\uFF1D',
  ),
]

const blanks = [
  ...Array.from(
    '\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000',
  ),
  ...Array.from(
    '\u2028\u2029\u180E\u200B\u200C\u200D\u2060\uFEFF\u00AD\u202A\u202B\u202D\u202E\u2066\u2069\u061C',
  ),
  ...Array.from('\uFE0F\u115F\u3164\uFFA0\u034F'),
]

const letters = ['\uFF4C\uFF53', '\u{1D425}\u{1D42C}', 'l\u017F', '\u24DB\u24E2']

export const bypasses: readonly Bypass[] = [
  ...operators,
  ...keepsMeaningInDoubleQuotes,
  ...all(META, controlsInSingleQuotes),
  ...expansions,
  ...all(
    META,
    lookAlikes.flatMap((c) => [`ls${c}id`, `ls ${c}id`]),
  ),
  ...all(
    META,
    blanks.flatMap((c) => [`ls${c}-la`, `ls a\\${c}`]),
  ),
  ...all(META, letters),
  ...all(
    META,
    ['\u0001', '\b', '\v', '\f', '\u001B', '\u007F', '\u0080', '\u0085'].map((c) => `ls${c}a`),
  ),
  ...all(META, ['ls \uD800', 'ls \uDC00a', "ls '\uD800'", 'ls "\uDFFF"']),
  // Chains and substitutions as they are tried
  ...all(META, [
    'ls; rm -rf /',
    'ls && rm -rf /',
    'ls || rm -rf /',
    'ls & rm -rf /',
    'ls | sh',
    'ls |& sh',
    'ls\nrm -rf /',
    'ls\r\nrm -rf /',
    'ls\rrm -rf /',
    'ls\\\nrm',
    'echo $(id)',
    'echo "$(id)"',
    'echo `id`',
    'echo "`id`"',
    'echo $((1+1))',
    'echo ${HOME}',
    'echo $HOME',
    'echo "$HOME"',
    'echo "\\\\$HOME"',
    'echo ${IFS}id',
    'ls$IFS-la',
    'ls${IFS}-la',
    "ls$'\\n'id",
    "echo $'\\x3b id'",
    'echo $"id"',
    'ls <(id)',
    'ls >(id)',
    'cat <<EOF',
    'cat <<-EOF\nid\nEOF',
    'cat <<<id',
    'cat < /etc/passwd',
    'echo x > /etc/passwd',
    'echo x >> /etc/passwd',
    'echo x 2>&1',
    'echo x &> f',
    'echo x >| f',
    'cat <> f',
    '(ls)',
    'ls (id)',
    'ls() { id',
    'echo !!',
    'echo !$',
    'echo "!!"',
    'echo a!b',
    '! ls',
    'echo $$',
    'echo $?',
    'echo $@',
    'echo "$@"',
    'ls # comment',
    'ls #',
    '#ls',
    'ls\t#x',
    'ls;',
    'ls &',
    '|ls',
    '&&',
    ';',
    '$0',
    '$SHELL',
    '$(ls)',
    '`ls`',
    '"$(ls)"',
  ]),
  // Variables in front of the command
  ...all(META, [
    'A=b ls',
    'PATH=/tmp ls',
    'LD_PRELOAD=/tmp/x.so ls',
    'GIT_SSH_COMMAND=id git fetch',
    'A= ls',
    'A+=b ls',
    '_=1 ls',
    "A='b c' ls",
    'A="b" ls',
    'IFS=, ls',
    'A=b',
    ' A=b ls',
    '\tA=b ls',
  ]),
  // Home directories
  ...all(META, [
    '~',
    'ls ~',
    'ls ~root',
    'ls ~/x',
    '~/bin/ls',
    'ls a=~',
    'ls a:~',
    'ls PATH=a:~root',
  ]),
  // Quotes and escapes that do not end
  ...all(META, [
    "ls '",
    'ls "',
    "ls 'a",
    'ls "a',
    'ls "a\\"',
    "ls 'a\\''b",
    "'",
    '"',
    'ls \\',
    '\\',
    'ls a\\',
    "ls '''",
    'ls """',
  ]),
  ...all(EXPANSION, [
    'ls *',
    'ls *.ts',
    'ls **/*',
    'ls ?',
    'ls [a-z]',
    'ls {a,b}',
    'ls {1..9}',
    '{ ls',
    '[ -f x ]',
    '[[ -f x ]]',
    '/???/c?t /etc/passwd',
    '/bin/l[s]',
    'A[0]=b ls',
    'ls "a"*',
    "ls 'a'{b,c}",
  ]),
  // Other commands, in every spelling
  ...all(COMMAND, [
    '',
    ' ',
    '\t',
    ' \t ',
    "''",
    '""',
    'rm',
    'rm -rf /',
    '/bin/ls',
    './ls',
    '../ls',
    'bin/ls',
    '/usr/bin/env ls',
    'LS',
    'Ls',
    'lss',
    'l',
    'ls.',
    'ls/',
    'env ls',
    'sh -c ls',
    "bash -c 'ls; id'",
    'xargs ls',
    "find . -exec ls '{}' '+'",
    'awk \'BEGIN{system("ls")}\'',
    'nohup ls',
    'nice ls',
    'timeout 5 ls',
    'sudo ls',
    'command ls',
    'exec ls',
    'eval ls',
    'builtin ls',
    'source ls',
    '. ls',
    'busybox ls',
    'time ls',
    'coproc ls',
    'if ls',
    'while ls',
    'function ls',
    'tar --to-command=id -xf a.tar',
    "'ls '",
    "' ls'",
    '"ls -la"',
    "'ls;'",
    "'ls\tid'",
    'r""m',
    "r''m",
    'r\\m',
    '\\rm',
    "'rm'",
    '"rm"',
    "w'h'o'am'i",
    '-ls',
    '--',
    '=ls',
    '%ls',
    '^ls',
    '@ls',
    ',ls',
    '+ls',
    ':ls',
    "'A=b' ls",
    'l\u0455', // a Cyrillic letter
    '\u0441at f', // another
    'e\u0441ho x',
    '\u13A1s', // Cherokee
    'l\u0301s', // an accent
    "'ls\u00A0'",
    "'\uFF4C\uFF53'",
    "'l\u200Bs'",
  ]),
]
