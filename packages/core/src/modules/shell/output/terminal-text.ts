const ESCAPE = '\u001B'

/**
 * Escape sequences of terminals, each alternative bounded by the next escape: linear time.
 * Operating system commands (titles, links) with their text, then control sequences (colours,
 * cursor), then two-character ones.
 */
const SEQUENCES =
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what it looks for
  /\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B\[[0-?]*[ -/]*[@-~]|\u001B[ -/]*[0-~]/g

// oxlint-disable-next-line eslint/no-control-regex -- control characters are what it looks for
const CONTROLS = /[\0-\u0008\u000B\u000C\u000E-\u001F\u007F]/g

/** First of the visible pictures that Unicode has for control characters. */
const PICTURES = 0x24_00
const DELETE = 0x7f
const DELETE_PICTURE = '\u2421'

/**
 * Output of a command as a model reads it: no colours, no cursor movement; other control
 * characters as visible pictures. Tabs and line ends stay.
 */
export function plainTerminalText(text: string): string {
  const plain = text.includes(ESCAPE) ? text.replace(SEQUENCES, '') : text
  return plain.replace(CONTROLS, pictureOf)
}

function pictureOf(control: string): string {
  const code = control.charCodeAt(0)
  return code === DELETE ? DELETE_PICTURE : String.fromCharCode(PICTURES + code)
}
