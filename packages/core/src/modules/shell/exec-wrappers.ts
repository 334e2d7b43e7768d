/**
 * Programs that run other programs when their arguments (or files that they read) say so: with
 * one of them in an allowlist, the list no longer says what can run.
 */
const STARTERS: ReadonlySet<string> = new Set(
  [
    // Shells and interpreters
    'sh bash dash zsh ksh mksh fish csh tcsh busybox toybox ash pwsh powershell cmd',
    'python python2 python3 pypy pypy3 ipython node nodejs deno bun tsx ts-node perl ruby irb php',
    'lua luajit tclsh wish expect Rscript R julia guile racket groovy java jshell osascript',
    'awk gawk mawk nawk sed ed ex m4 dc gdb lldb',
    // Wrappers
    'env xargs parallel sudo doas su runuser pkexec nice ionice chrt taskset nohup timeout time',
    'setsid setarch stdbuf unbuffer script screen tmux watch entr flock chroot unshare nsenter',
    'bwrap firejail systemd-run strace ltrace valgrind perf exec eval command builtin source . nc',
    'ncat netcat socat ssh scp sftp rsync rsh find fd fdfind run-parts start-stop-daemon at batch',
    'crontab ld.so ld-linux.so ld-linux-x86-64.so.2 capsh prlimit numactl choom',
    // Editors and pagers
    'vi vim nvim view vimdiff ex emacs nano pico joe micro less more most man info',
    // Version control, builds and packages
    'git hg svn bzr fossil make gmake cmake ninja meson bazel gcc g++ clang cc c++ cargo rustc go',
    'npm npx pnpm pnpx yarn bunx corepack pip pip3 pipx uv uvx poetry conda gem bundle rake',
    'composer mvn gradle ant sbt dotnet apt apt-get dpkg yum dnf rpm apk brew snap',
    'just task tox nox pytest vitest jest mocha',
    // Containers and clusters
    'docker podman nerdctl kubectl helm crictl lxc-attach machinectl vagrant ansible',
    'ansible-playbook terraform',
    // Archivers, databases and others with a hook
    'tar bsdtar zip cpio sqlite3 psql mysql mariadb mongo mongosh ftp lftp',
    'wget openssl gpg tcpdump nmap ip split sort rg logrotate dmesg journalctl',
    'systemctl service mail mutt gnuplot latex pdflatex xelatex tex',
  ].flatMap((line) => line.split(' ')),
)

/** Those of the allowed commands that can start commands which are not on the list. */
export function commandsThatStartOthers(allowed: readonly string[]): string[] {
  return allowed.filter((command) => STARTERS.has(withoutVersion(baseNameOf(command))))
}

function baseNameOf(command: string): string {
  return command.slice(command.lastIndexOf('/') + 1)
}

/** `python3.12` is `python3`, `gcc-13` is `gcc`; a name that is known as it stands stays. */
function withoutVersion(name: string): string {
  return STARTERS.has(name) ? name : name.replace(/(?:-\d+|\.\d+)(?:\.\d+)*$/, '')
}
