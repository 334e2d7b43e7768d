/** An edit as a model writes it, and its exact outcome. */
export interface EditCase {
  readonly what: string
  readonly file: string
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean
  /** The file afterwards; absent when the edit is refused. */
  readonly gives?: string
  /** Parts of the note or of the refusal. */
  readonly says?: readonly string[]
  readonly refused?: 'no-match' | 'ambiguous-match' | 'invalid-input'
}

const NBSP = '\u00A0'
const BOM = '\uFEFF'

/** A refusal: what, the file, the old text, and what the model is told. */
const differs = (
  what: string,
  file: string,
  oldText: string,
  ...says: readonly string[]
): EditCase => ({ what, file, oldText, newText: 'new', refused: 'no-match', says })

const gives = (
  what: string,
  file: string,
  [oldText, newText, result]: readonly [string, string, string],
  ...says: readonly string[]
): EditCase => ({ what, file, oldText, newText, gives: result, says })

const LF_NOTE = 'taken as LF'

export const editCases: readonly EditCase[] = [
  // What differs.
  differs(
    'mixed line ends, LF sent',
    'a\r\nb\nc\n',
    'a\nb\nc',
    'Only line ends differ',
    'line 1',
    'CRLF',
    'LF',
  ),
  differs(
    'mixed line ends, CRLF sent',
    'a\nb\r\nc\n',
    'a\r\nb\r\nc',
    'Only line ends differ',
    'line 1',
  ),
  differs('mixed line ends further down', 'x\na\r\nb\nc\r\n', 'b\nc\nd', 'line 4', 'CRLF'),
  differs(
    'a last line end that is not there',
    'a\nb',
    'b\n',
    'Only line ends differ',
    'its end, without a line end',
    'line 2',
  ),
  differs('two last line ends', 'a\nb\n', 'a\nb\n\n', 'ends before line 3'),
  differs(
    'a byte order mark that is not there',
    'a\nb\n',
    `${BOM}a\nb`,
    'byte order mark',
    'line 1',
  ),
  differs(
    'blanks at the end of a line of the file',
    'a  \nb\n',
    'a\nb',
    'ends of lines differ',
    'column 2',
    'a blank',
  ),
  differs(
    'blanks at the end of a line sent',
    'a\nb\n',
    'a \nb',
    'ends of lines differ',
    'column 2',
    'a blank',
  ),
  differs(
    'a tab for blanks',
    '\tif (a) {\n\t\tb()\n',
    '    if (a) {\n',
    'Only blanks differ',
    'a tab',
    'a blank',
  ),
  differs('blanks for a tab', '    if (a) {\n', '\tif (a) {', 'Only blanks differ', 'a tab'),
  differs('less indentation', '        return 1\n', '    return 1\n    ', 'line 1'),
  differs('a no-break space', `a${NBSP}b\n`, 'a b', 'no-break space', 'column 2'),
  differs('a zero-width space', 'a\u200Bb = 1\n', 'ab = 1', 'zero-width space'),
  differs(
    'a composed letter',
    'caf\u00E9 au lait\n',
    'cafe\u0301 au lait',
    'Unicode form',
    'column 4',
  ),
  differs(
    'a decomposed letter',
    'cafe\u0301 au lait\n',
    'caf\u00E9 au lait',
    'Unicode form',
    'column 4',
  ),
  differs('a full-width sign', 'call\uFF08x\uFF09\n', 'call(x)', 'look-alike', 'U+FF08'),
  differs('curly quotes', "say('hello world')\n", 'say(‘hello world’)', 'U+2018', 'column 5'),
  differs(
    'another number',
    'const port = 8080\n',
    'const port = 8081',
    '"8080"',
    '"8081"',
    'line 1',
  ),
  differs('a dash', 'from 1–2 days on\n', 'from 1-2 days on', 'U+2013'),
  differs(
    'line numbers of read_file',
    'const a = 1\nconst b = 2\n',
    '1→const a = 1',
    'line 1',
    'exactly',
  ),
  differs(
    'a line that changed since',
    'a = 1\nb = 3\nc = 4\n',
    'a = 1\nb = 2\nc = 4',
    'line 2',
    '"3"',
    '"2"',
  ),
  differs('a line left out', 'one\ntwo\nthree\n', 'one\nthree', 'line 2', '"two"', '"three"'),
  differs('an escaped line feed', 'a\nb\n', 'a\\nb', 'read the file again'),
  differs('text that is nowhere', 'a\nb\n', 'zzzzzz', 'read the file again'),
  differs('a lone brace found at its best place', '{\n  a\n}\n{\n  b\n}\n', '  b\n }\n', 'line 6'),
  differs('a file that is empty', '', 'a', 'read the file again'),
  differs('a line end in the middle', 'foo bar\n', 'foo\nbar', 'line 1'),

  // Line ends.
  gives('CRLF sent into LF', 'a\nb\n', ['b', 'x\r\ny', 'a\nx\ny\n'], LF_NOTE),
  gives('CRLF in both, file LF', 'a\nb\nc\n', ['a\r\nb', 'x\r\ny\r\nz', 'x\ny\nz\nc\n'], LF_NOTE),
  gives('CRLF only in the old text, file LF', 'a\nb\n', ['a\r\nb', 'x\ny', 'x\ny\n'], LF_NOTE),
  gives('LF sent into CRLF', 'a\r\nb\r\n', ['b', 'x\ny', 'a\r\nx\r\ny\r\n']),
  gives('CRLF matched, LF sent', 'a\r\nb\r\n', ['a\r\nb', 'x\ny', 'x\r\ny\r\n']),
  gives('mixed file, place with LF', 'a\r\nb\nc\n', ['b', 'x\ny', 'a\r\nx\ny\nc\n']),
  gives('mixed file, place with CRLF', 'a\nb\r\nc\n', ['b', 'x\ny', 'a\nx\r\ny\r\nc\n']),
  gives('last line of a CRLF file', 'a\r\nb', ['b', 'x\ny', 'a\r\nx\r\ny']),
  gives('a single line takes what is sent', 'a', ['a', 'x\r\ny', 'x\r\ny']),
  gives('line ends on purpose, to CRLF', 'a\nb\n', ['a\n', 'a\r\n', 'a\r\nb\n']),
  gives('line ends on purpose, to LF', 'a\r\nb\r\n', ['a\r\n', 'a\n', 'a\nb\r\n']),
  {
    what: 'line ends that are there already',
    file: 'a\r\nb\r\n',
    oldText: 'a\nb',
    newText: 'a\r\nb',
    refused: 'invalid-input',
    says: ['newText', 'has already'],
  },

  // Text is text.
  gives('a dollar sign', 'price\n', ['price', '$1 $& $$', '$1 $& $$\n']),
  gives('a backslash', 'a\\nb\n', ['a\\nb', 'a\\tb', 'a\\tb\n']),
  gives('emoji', 'say 😀 now\n', ['😀', '🎉👨‍👩‍👧', 'say 🎉👨‍👩‍👧 now\n']),
  gives('a byte order mark stays', `${BOM}a\n`, ['a', 'b', `${BOM}b\n`]),
  gives('a file without a last line end', 'a\nb', ['b', 'c', 'a\nc']),
  gives('everything removed', 'a\n', ['a\n', '', '']),
  {
    what: 'several places',
    file: 'x = 1\ny\nx = 1\n',
    oldText: 'x = 1',
    newText: 'x = 2',
    refused: 'ambiguous-match',
    says: ['2 times', 'lines 1, 3', 'replaceAll'],
  },
  {
    what: 'all of several places',
    file: 'x x\nx\n',
    oldText: 'x',
    newText: 'yy',
    replaceAll: true,
    gives: 'yy yy\nyy\n',
  },
  {
    what: 'nothing to look for',
    file: 'a',
    oldText: '',
    newText: 'b',
    refused: 'invalid-input',
    says: ['oldText', 'must not be empty'],
  },
  {
    what: 'nothing to change',
    file: 'a',
    oldText: 'a',
    newText: 'a',
    refused: 'invalid-input',
    says: ['newText', 'same as oldText'],
  },
]
