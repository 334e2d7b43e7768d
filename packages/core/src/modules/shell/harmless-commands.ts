/**
 * Programs that start no program which their arguments, files or settings choose, and that write
 * no file whose content and place a caller chooses, with which an allowed program could be
 * replaced. Each was judged by itself. Left out with reason: `sort` (`--compress-program`), `tee`,
 * `cp`, `mv`, `ln`, `dd`, `uniq`, `shuf` (write files), `sed` (`e`, `w`), `find` (`-exec`), `file`
 * (`-z`), `tar`, `split`, `rg`, `zgrep` (start filters), `less` and `more` (`!`).
 */
const HARMLESS: ReadonlySet<string> = new Set(
  [
    // Show files and directories
    'ls cat tac head tail wc nl od du df stat readlink realpath basename dirname pathchk cmp diff',
    'cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum findmnt',
    // Filter text
    'grep egrep fgrep cut paste tr fold fmt pr expand unexpand join comm tsort rev column jq',
    'base32 base64 basenc numfmt',
    // Print something
    'echo printf true false yes test [ expr seq factor date cal sleep pwd printenv',
    'id whoami groups users who uname arch nproc hostid tty logname uptime free ps pgrep',
    // Make and remove, without content
    'mkdir rmdir rm touch truncate',
  ].flatMap((line) => line.split(' ')),
)

/** Where a name means the program that is known by it. */
const SYSTEM_PATH = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/

/**
 * Those of the allowed commands that are not known to be harmless: they may start commands which
 * are not on the list. No list of the programs that do can be complete, so an unknown one counts.
 */
export function commandsNotKnownHarmless(allowed: readonly string[]): string[] {
  return allowed.filter((command) => !HARMLESS.has(SYSTEM_PATH.exec(command)?.[1] ?? command))
}
