/** What every command line of the corpus finds in its workspace. */
export const fixture: Readonly<Record<string, string>> = {
  '/words.txt': 'pear\napple\nfig\nbanana\napple\nCherry\ndate\nfig\n\nelder berry\n',
  '/numbers.txt': '10\n9\n2\n33\n1\n100\n-5\n2\n',
  '/people.csv':
    'name,age,city\nAda,36,London\nAlan,41,Wilmslow\nGrace,85,New York\nLinus,54,Portland\n',
  '/app.log':
    '2026-01-02T10:00:00 INFO start\n2026-01-02T10:00:01 WARN disk 91%\n2026-01-02T10:00:02 ERROR write failed: /var/x\n2026-01-02T10:00:03 INFO retry\n2026-01-02T10:00:05 ERROR write failed: /var/y\n2026-01-02T10:00:09 INFO done\n',
  '/config.json':
    '{"name":"demo","version":"1.2.3","tags":["a","b","c"],"nested":{"on":true,"n":3},"list":[{"id":1,"v":"x"},{"id":2,"v":"y"}]}\n',
  '/src/main.ts': "import { add } from './add.ts'\n\n// NOTE: more\nconsole.log(add(1, 2))\n",
  '/src/add.ts': 'export function add(a: number, b: number): number {\n  return a + b\n}\n',
  '/src/lib/deep.ts': '// NOTE: test\nexport const deep = true\n',
  '/src/lib/notes.md': '# Notes\n\n- one\n- two\n',
  '/docs/a b.txt': 'a file with a space\n',
  '/tabs.tsv': 'k1\tv1\tz\nk2\tv2\ty\nk3\tv3\tx\n',
  '/utf8.txt': 'zß水🍌\nnaïve café\n',
  '/crlf.txt': 'one\r\ntwo\r\n',
  '/no-newline.txt': 'last line has no end',
  '/empty.txt': '',
}
