// Lines that are hard on whoever wraps them. Each must mean to the driver what it means to bash.

const exits = [0, 1, 2, 3, 42, 126, 127, 128, 130, 200, 254, 255, 256, 257, -1].map(
  (code) => `exit ${code}`,
)

const signals = [
  'HUP',
  'INT',
  'QUIT',
  'ABRT',
  'KILL',
  'SEGV',
  'PIPE',
  'ALRM',
  'TERM',
  'USR1',
  'USR2',
]
  .map((name) => `kill -s ${name} $$`)
  .concat(['INT', 'KILL', 'TERM', 'SEGV'].map((name) => `sh -c 'kill -s ${name} $$'; echo $?`))
  .concat([
    'echo before; kill -9 $$; echo never',
    '(kill -9 $BASHPID); echo $?',
    'kill -0 $$; echo $?',
  ])

const quoting = [
  String.raw`echo "it's"`,
  String.raw`echo 'a"b'`,
  String.raw`echo "a\"b"`,
  String.raw`echo a\'b`,
  String.raw`echo $'a\tb\x41\u6c34'`,
  String.raw`printf '%s\n' '\' "\\" \\`,
  String.raw`echo "$(echo "$(echo "deep")")"`,
  'echo `echo \\`echo back\\``',
  String.raw`echo '$HOME' "$((1+2))" '!!' "!x"`,
  `echo "a
b"`,
  `echo 'line one
line two'`,
  String.raw`printf '[%s]' '' ' ' '  a  ' '*' '~' '{1,2}'`,
  String.raw`set -- "a b" c "" d; echo $#; printf '<%s>' "$@"`,
  'echo {a,b}{1,2} {1..5} {z..w}',
  'echo "${undefined:-default} ${undefined+x}"',
  "echo '\\''",
  'echo a;;echo b',
  'x="a;b|c&d>e<f"; echo "$x"; eval "echo \'$x\'"',
  'echo -n; echo -n x; echo -e "a\\nb"; echo -- y',
  'IFS=,; x="a,b,c"; set -- $x; echo $2',
  "trap -- '' 0; echo \"'\"",
  "bash -c 'bash -c \"bash -c '\\''echo nested'\\''\"'",
  'echo "%n %s %d" %%; printf "%s\\n" "%0badc0de ended 0"',
]

const unbalanced = [
  'echo "open',
  "echo 'open",
  'echo `open',
  'echo $(open',
  'echo ${open',
  'echo $((1+',
  '(echo a',
  '{ echo a',
  'if true',
  'if true; then echo a',
  'while true; do echo a',
  'case x in',
  'case x in a) echo',
  'for i in 1 2',
  'function f {',
  'echo a)',
  'echo a; }',
  'fi',
  'done',
  '&& echo a',
  '| cat',
  'echo a ||',
  'echo a |',
  'echo a &&',
  'echo a >',
  '<<',
  '[[ a',
  '[[ a == ]]',
  '((1 +',
  'a=(1 2',
  ';;',
  '!',
]

const documents = [
  `cat <<EOF
hello $((1+1))
EOF`,
  `cat <<'EOF'
hello $((1+1)) \`id\` $x
EOF`,
  `cat <<-EOF
\t\ttabs gone
\tEOF`,
  `cat <<A; cat <<B
one
A
two
B`,
  'cat <<EOF\nnever closed',
  'cat <<EOF',
  "cat <<'E O F'\nspaces\nE O F",
  'cat <<< "here string"',
  `cat <<EOF | tr a-z A-Z
piped
EOF
echo after`,
  `bash <<'EOF'
echo inner; exit 5
EOF
echo $?`,
  'cat <<EOF\n%nonce ended 0\nEOF',
]

const unicode = [
  'echo zß水🍌',
  'x=水; echo "${#x}"',
  "printf '%s' 'ünïcödé' | wc -c",
  "printf '\\346'; printf '\\260\\264'",
  'echo "🏳️‍🌈 e\u0301 ﷽ \u202e rtl"',
  "printf '\\357\\273\\277bom'",
  "printf '\\357\\277\\275 replacement'",
  'mkdir -p ü; cd ü && echo in; cd ..; rmdir ü',
  'echo 水 >&2',
]

const binary = [
  "printf '\\000'",
  "printf 'a\\000b\\000'",
  "printf '\\377\\376\\000\\001'",
  "printf '\\200\\201' >&2; printf '\\300'",
  'head -c 256 /dev/zero',
  'for i in {0..255}; do printf "\\\\x$(printf %x $i)"; done',
  "printf '\\r\\n\\r\\n'",
  "printf '\\n\\n\\n'",
  "printf 'no end'",
  "printf '\\033[31mred\\033[0m\\a\\b\\v\\f'",
  "printf '\\177\\001\\002'",
  'head -c 100000 /dev/zero | tr "\\0" "\\377"',
  'head -c 16384 /dev/zero | tr "\\0" x',
  'head -c 16385 /dev/zero | tr "\\0" x',
  'head -c 65536 /dev/zero',
]

const background = [
  'sleep 30 & echo started',
  '(sleep 30; echo late) & echo started',
  '( (sleep 30) & ); echo orphan',
  'sleep 30 >/dev/null 2>&1 & disown; echo disowned',
  'nohup sleep 30 >/dev/null 2>&1 & echo nohup',
  'setsid sleep 30 & echo session',
  'setsid -f sleep 30; echo forked',
  'set -m; sleep 30 & echo jobs',
  'for i in 1 2 3; do echo $i & wait; done',
  '{ sleep 0.05; echo one; } & { sleep 0.15; echo two; } & wait',
  'false & wait $!; echo $?',
  'coproc cat; echo hi >&${COPROC[1]}; read -u ${COPROC[0]} x; echo $x',
  'exec 3>&1; sleep 30 & echo held >&3',
  'yes > /dev/null & sleep 0.02; kill $!; wait $! 2>/dev/null; echo $?',
  'echo $(sleep 0.01 & echo sub)',
  'trap "" HUP; sleep 30 & echo trapped',
]

const options = [
  'set -e; false; echo never',
  'set -e; false || true; echo reached',
  'set -u; echo $nothing; echo never',
  'set -o pipefail; false | true; echo $?',
  'set -x; echo traced',
  'set -n; echo never',
  'set -f; echo *',
  'set -C; echo a >c1; echo b >c1; rm -f c1',
  'shopt -s extglob; [[ abc == @(abc|d) ]] && echo yes',
  'set -eu; x=$(false); echo never',
  'set -o posix; echo $POSIXLY_CORRECT; [[ -o posix ]] && echo posix',
  'enable -n echo; echo external',
  'set -euo pipefail; trap "echo err \\$?" ERR; false',
  'exec 2>&1; echo to stdout >&2',
  'umask 077; umask',
  'ulimit -n 64; ulimit -n',
]

const execs = [
  'exec true',
  'exec false',
  'exec echo replaced',
  'exec no-such-program',
  'exec >/dev/null; echo gone',
  'exec 1>&-; echo closed',
  'exec 2>&-; echo closed >&2; echo $?',
  'exec 0<&-; cat; echo $?',
  'exec 1>&- 2>&-',
  'exec 9>&1; echo nine >&9',
  'exec bash -c "exit 9"',
  'exec -a other bash -c "echo \\$0"',
  'exec sh -c "kill -9 \\$\\$"',
]

const traps = [
  "trap 'echo bye' EXIT",
  "trap 'echo bye; exit 7' EXIT; exit 3",
  "trap 'echo term' TERM; kill $$; echo after",
  "trap '' TERM; kill $$; echo survived",
  "trap 'echo int' INT; kill -INT $$; echo after",
  "trap 'echo debug' DEBUG; :",
  "trap 'echo usr1' USR1; kill -USR1 $$; sleep 0.01",
  'trap; trap -p',
  "f() { trap 'echo ret' RETURN; return 4; }; f; echo $?",
  "trap 'kill -9 $$' EXIT",
]

const inputs = [
  'cat',
  'read x; echo "[$x] $?"',
  'read -t 1 x; echo $?',
  'wc -c',
  'cat /dev/stdin',
  'while read -r l; do echo "$l"; done; echo end',
  'ssh-keygen --nope 2>/dev/null; echo $?',
  'test -t 0; echo $?; test -t 1; echo $?; test -t 2; echo $?',
  'cat /dev/tty 2>/dev/null; echo $?',
  'bash -s; echo $?',
  'python3 -c "import sys; print(repr(sys.stdin.read()))"',
]

const programs = [
  'no-such-command-here',
  './missing',
  '/',
  '/etc/passwd',
  'touch noexec; ./noexec; rm noexec',
  'printf "#!/no/such\\n" >bad; chmod +x bad; ./bad; rm bad',
  'cd /missing',
  'cd /; cd -',
  'ls /missing',
  'return 3',
  'break',
  'unset PATH; ls',
  'PATH=/nowhere ls',
  'f() { f2; }; f2() { return 9; }; f',
  'true | false | true; echo "${PIPESTATUS[@]}"',
  'yes | head -n 3',
  'seq 1 5000 | tail -n 2',
  'echo out; echo err >&2; echo out2; echo err2 >&2',
  'for i in {1..50}; do echo o$i; echo e$i >&2; done',
  'bash -c "exit 300"',
  'sleep 0.05; echo slept',
  'time -p true 2>/dev/null',
  'x=$(seq 1 20000); echo ${#x}',
  'declare -A m=([a]=1); echo ${m[a]}',
  'diff <(echo a) <(echo b)',
  'echo a > >(cat); wait $!',
  'find . -maxdepth 0',
  'echo $LINENO $0 $# $-',
  'echo "$BASH_EXECUTION_STRING" | head -c 20',
  'echo $((2**63)) $((1/0))',
  'ls --no-such-option',
  'dd if=/dev/zero bs=1k count=100 2>/dev/null | md5sum',
  'perl -e "print 1" 2>/dev/null || echo no perl',
  'type cd | head -n 1; command -v echo',
]

const storms = [
  'for i in $(seq 100); do sleep 0.01 & done; wait; echo stormed',
  'for i in $(seq 30); do (sleep 30 &) ; done; echo left thirty',
  'f() { (($1 > 0)) && { f $(($1 - 1)) & f $(($1 - 1)) & wait; }; }; f 5; echo tree',
  'ulimit -u 20 2>/dev/null; echo limited',
  'seq 1 3000 | xargs -P 4 -n 500 echo | wc -w',
]

export const TORTURE: readonly string[] = [
  ...exits,
  ...signals,
  ...quoting,
  ...unbalanced,
  ...documents,
  ...unicode,
  ...binary,
  ...background,
  ...options,
  ...execs,
  ...traps,
  ...inputs,
  ...programs,
  ...storms,
]
