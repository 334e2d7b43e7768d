// Scripts that a shell without processes must survive. Each list is multiplied out, so that a word
// that gets special treatment in one place is seen in all places.

const PROTOTYPE_WORDS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  '__lookupGetter__',
] as const

/** Ways to use a word as a name. */
const NAME_USES = [
  (word: string) => `${word}=1; echo "$${word}"`,
  (word: string) => `export ${word}=1; env`,
  (word: string) => `declare -A a; a[${word}]=1; echo "\${a[${word}]}" "\${!a[@]}"`,
  (word: string) => `${word}() { echo called; }; ${word}`,
  (word: string) => `alias ${word}=pwd; ${word}`,
  (word: string) => word,
  (word: string) => `echo x > ${word}; cat ${word}; mkdir -p d/${word}/e; find d`,
  (word: string) => `jq -n '{a:1} | .${word}, .["${word}"], {"${word}": 2}'`,
  (word: string) => `echo '{"${word}":{"polluted":1}}' | jq '. * {"b":2} | .polluted'`,
  (word: string) => `awk 'BEGIN { a["${word}"]=1; for (k in a) print k; print a["polluted"] }'`,
  (word: string) => `echo '${word}: {polluted: 1}' | yq '.${word}'`,
  (word: string) => `printf -v ${word} %s 1; unset ${word}; readonly ${word}=2; set | head -3`,
] as const

/** Names of JavaScript that no script may reach a value of. */
const HOST_NAMES = [
  'process',
  'require',
  'globalThis',
  'Buffer',
  'import',
  'module',
  'eval',
] as const
const HOST_USES = [
  (name: string) => `echo \${${name}}; echo $(( ${name} ))`,
  (name: string) => `jq -n '${name}'`,
  (name: string) => `awk 'BEGIN { print ${name}.env; ${name}("x") }'`,
  (name: string) => `echo a | sed 's/a/'"$(echo ${name}.exit)"'/e'`,
  (name: string) => `eval "${name}.exit(7)"`,
  (name: string) => `bash -c '${name}.env.HOME'`,
] as const

const HOST_PATHS = [
  '/etc/passwd',
  '/etc/shadow',
  '/proc/self/environ',
  '/proc/1/environ',
  '/proc/self/cmdline',
  '/proc/self/maps',
  '/proc/self/exe',
  '/proc/self/root/etc/passwd',
  '/proc/self/cwd/package.json',
  '/dev/sda',
  '/dev/mem',
  '/dev/tcp/127.0.0.1/80',
  '/home/user/.ssh/id_rsa',
  '/workspace/../etc/passwd',
  '/workspace/../../../../etc/hostname',
  '/tmp/../etc/passwd',
  '//etc/passwd',
  '/./etc/./passwd',
  'file:///etc/passwd',
  '~root/.bashrc',
] as const
const PATH_USES = [
  (path: string) => `cat ${path}`,
  (path: string) => `cd "$(dirname ${path})" && ls -la && cat "$(basename ${path})"`,
  (path: string) => `ln -s ${path} l; cat l; cp ${path} c; cat c`,
  (path: string) => `exec 3<${path} && cat <&3`,
  (path: string) => `. ${path}; source ${path}`,
] as const

/** What a script tells of the host: nothing that these lists reach may hold it. */
export const escapes: readonly string[] = [
  ...PROTOTYPE_WORDS.flatMap((word) => NAME_USES.map((use) => use(word))),
  ...HOST_NAMES.flatMap((name) => HOST_USES.map((use) => use(name))),
  ...HOST_PATHS.flatMap((path) => PATH_USES.map((use) => use(path))),
  'env; printenv; set; declare -p; export -p',
  'js-exec -c "process.env"; python3 -c "import os; print(os.environ)"; node -e "process.env"',
  'sqlite3 /etc/passwd .dump; sqlite3 :memory: "select readfile(\'/etc/passwd\')"',
  'tar -cf - /etc /root 2>/dev/null | head -c 1000; tar -xf x -C /',
  'find / -name "*.pem" -o -name "id_*" -o -name ".env"',
  'curl http://169.254.169.254/; wget http://127.0.0.1/; exec 3<>/dev/tcp/127.0.0.1/22',
  'kill -9 1; kill -9 -1; kill -9 $PPID; kill 0',
  'cat /proc/*/environ /proc/*/cmdline',
  'echo x > /dev/helix-stdout; echo y >> /dev/helix-stderr; rm -rf /dev /proc /bin; echo z',
]

/** They end by themselves never; time ends them. */
export const endless: readonly string[] = [
  'while :; do :; done',
  'until false; do true; done',
  'for ((;;)); do :; done',
  'for ((;;)); do x=1; done',
  'while true; do echo x; done',
  'while true; do echo x > f; done',
  'while true; do cat f 2>/dev/null; done',
  'f() { g; }; g() { while :; do :; done; }; f',
  'sleep 3600',
  'sleep infinity',
  'while sleep 0.01; do :; done',
  'while :; do sleep 0; done & wait',
  'x=$(while :; do :; done); echo $x',
  'while :; do :; done | cat',
  'cat < <(while :; do :; done)',
  "awk 'BEGIN { while (1) i++ }'",
  "awk 'BEGIN { for (;;) a[i++ % 9] = i }'",
  "awk 'function f(n) { while (1) n++; return n } BEGIN { f(1) }'",
  'awk \'BEGIN { do { x = x "" } while (1) }\'',
  "echo x | sed ':a;s/x/x/;ta'",
  "echo x | sed ':a;ba'",
  "jq -n 'def f: 1 | f; f'",
  "jq -n '[limit(1e12; repeat(1))] | length'",
  "jq -n 'last(range(1e15))'",
  "jq -n '[recurse(.)] | length'",
  "jq -n 'until(false; .)'",
  'trap "" TERM INT HUP; while :; do :; done',
  'exec 2>/dev/null; while :; do nope; done',
  'set +e; while ! false; do ((i++)); done',
  'select x in a b; do :; done; while :; do :; done',
]

/** They want more than there is. */
export const greedy: readonly string[] = [
  'x=a; while :; do x=$x$x; done',
  "x=$(printf '%1000000000d' 1); echo ${#x}",
  'echo {1..100000000} | wc -c',
  'echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z} | wc -c',
  'seq 1 1000000000 | tail -1',
  'a=(); while :; do a+=("$RANDOM$RANDOM$RANDOM"); done',
  'declare -A m; i=0; while :; do m[$i]=$i; i=$((i+1)); done',
  'f() { f; }; f',
  'f() { f | f & }; f',
  ':(){ :|:& };:',
  'f() { x=$(f); }; f',
  'f() { ( f ); }; f',
  `echo ${'$('.repeat(500)}echo x${')'.repeat(500)}`,
  `${'('.repeat(2000)}echo x${')'.repeat(2000)}`,
  `${'{ '.repeat(5000)}echo x${'; }'.repeat(5000)}`,
  `if ${'! '.repeat(10_000)}true; then :; fi`,
  `echo $((${'('.repeat(5000)}1${')'.repeat(5000)}))`,
  `echo $(( ${'1+'.repeat(50_000)}1 ))`,
  `jq -n '${'['.repeat(5000)}${']'.repeat(5000)}'`,
  `echo '${'['.repeat(50_000)}' | jq .`,
  `echo '${'{"a":'.repeat(20_000)}' | jq .`,
  'yes | head -2',
  'yes | head -c 100000000 | wc -c',
  'head -c 10000000000 /dev/zero | wc -c',
  'cat /dev/zero | tr "\\0" x',
  'cat /dev/urandom | base64',
  'while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done | sort',
  'while :; do cat f f > g 2>/dev/null; cat g g > f; echo x >> f; done',
  'i=0; while :; do mkdir -p d/$i/$i/$i; i=$((i+1)); done',
  'i=0; while :; do echo x > file$i; i=$((i+1)); done',
  'x=$(head -c 1000000 /dev/zero | tr "\\0" a); while :; do echo "$x" >> big; done',
  'd=.; while :; do mkdir $d/aaaaaaaaaaaaaaaa; d=$d/aaaaaaaaaaaaaaaa; done',
  'printf "%s" {1..1000000} > f; for i in 1 2 3 4 5 6 7 8; do cat f f f f > g; mv g f; done; wc -c f',
  'awk \'BEGIN { x = "a"; while (1) x = x x }\'',
  'awk \'BEGIN { while (1) a[i++] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaa" }\'',
  'awk \'BEGIN { printf "%1000000000s", "x" }\' | wc -c',
  "awk 'function f(n) { return f(n + 1) } BEGIN { f(1) }'",
  "jq -n '[range(1e9)] | length'",
  'jq -n \'"a" * 1e10 | length\'',
  'jq -n \'reduce range(1e9) as $i (""; . + "a")\'',
  "jq -n 'def f: f + f; f'",
  "echo a | sed -e ':a' -e 's/a/aa/g' -e 'ta'",
  'echo x | sed "s/x/$(head -c 100000 /dev/zero | tr "\\0" y)/g; :a; s/y/yy/g; ta"',
  'head -c 1000000 /dev/zero | tr "\\0" a | fold -w 1 | sort | uniq -c',
  'seq 1 200000 | sort -R | sort -n | tail -1',
  'seq 1 100000 | xargs -n 1 echo | tail -1',
  'seq 1 100000 | while read x; do echo $x; done | tail -1',
  'head -c 3000000 /dev/zero | gzip | gunzip | gzip | wc -c',
  'ls /workspace/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*; echo /*/*/*/*/*/*',
  'shopt -s globstar; echo /**/*/**/*/**/*',
  `echo ${'*'.repeat(500)}`,
  `ls ${'{a,b}'.repeat(30)}`,
]

const EVIL_PATTERNS = [
  '(a+)+$',
  '(a|a)*$',
  '(a|aa)+$',
  '([a-z]+)*$',
  '(.*)*x',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(a?){50}a{50}',
  '((a{1,50}){1,50}){1,50}',
] as const
const SUBJECT = `$(printf 'a%.0s' {1..60})!`
const PATTERN_USES = [
  (pattern: string) => `echo ${SUBJECT} | grep -E '${pattern}'`,
  (pattern: string) => `echo ${SUBJECT} | grep -P '${pattern}'`,
  (pattern: string) => `echo ${SUBJECT} | sed -E 's/${pattern}/x/'`,
  (pattern: string) => `echo ${SUBJECT} | awk '/${pattern}/ { print }'`,
  (pattern: string) => `jq -n --arg s "${SUBJECT}" '$s | test("${pattern}")'`,
  (pattern: string) => `s=${SUBJECT}; re='${pattern}'; [[ $s =~ $re ]]; echo $?`,
  (pattern: string) =>
    `s=${SUBJECT}; echo "\${s//+(+(a))x/}"; shopt -s extglob; echo "\${s//${pattern}/}"`,
  (pattern: string) => `echo ${SUBJECT} > f; rg '${pattern}' f; find . -regex '${pattern}'`,
] as const

/** Patterns that take other engines years. */
export const evilPatterns: readonly string[] = EVIL_PATTERNS.flatMap((pattern) =>
  PATTERN_USES.map((use) => use(pattern)),
)
