import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Links into `/usr` on merged systems, folders on others. */
const TOP_LEVEL = ['bin', 'sbin', 'lib', 'lib64']
const SYSTEM_PATH = ['/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
/** What a shell script may expect. Left out where this machine has none. */
const PROGRAMS = [
  'bash sh dash env true false test [ expr printf echo yes seq sleep timeout nohup nice kill ps',
  'cat tac head tail tee cut paste join sort uniq comm tr fold fmt nl od wc split csplit shuf',
  'cp mv rm rmdir mkdir mkfifo mknod mktemp ln link unlink ls dir stat touch truncate chmod chown',
  'chgrp install dd df du sync readlink realpath basename dirname pwd pathchk numfmt factor',
  'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum sum base32 base64 basenc date',
  'id whoami groups logname who uname arch nproc hostname tty stty printenv nice stdbuf tsort',
  'grep egrep fgrep sed awk gawk mawk find xargs diff cmp diff3 sdiff file tar gzip gunzip bzip2 xz',
  'setsid flock getopt hexdump column rev mount umount unshare free pgrep pkill top uptime which',
].flatMap((line) => line.split(' '))
const PYTHON =
  'import os,sys,sysconfig as s;print(os.path.realpath(sys.executable));' +
  'print(s.get_path("stdlib"))'
/** Parts of the library of Python that nothing needs here. */
const PYTHON_EXTRAS =
  /^(?:test|tests|idlelib|tkinter|ensurepip|__pycache__|(?:site|dist)-packages|config-.*)$/

/** Copies programs of this machine, with all that they load, into a folder that becomes a root. */
export class HostFiles {
  readonly #root: string
  readonly #copied = new Set<string>()

  constructor(root: string) {
    this.#root = root
    for (const name of TOP_LEVEL) this.#repeatLink(`/${name}`)
  }

  /** The programs that a shell script may expect. */
  addPrograms(): void {
    for (const name of PROGRAMS) {
      const folder = SYSTEM_PATH.find((path) => existsSync(join(path, name)))
      if (folder !== undefined) this.addFile(join(folder, name))
    }
  }

  /** Python with its library; nothing where this machine has none. */
  addPython(): void {
    const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3'
    const [executable = '', library = ''] = output(python, ['-c', PYTHON])
    if (executable === '') return
    cpSync(library, join(this.#root, library), {
      recursive: true,
      filter: (path) => !PYTHON_EXTRAS.test(basename(path)),
    })
    const modules = join(library, 'lib-dynload')
    const names = existsSync(modules) ? readdirSync(modules) : []
    for (const name of names) this.addLibraries(join(modules, name))
    // Python finds its library from where it is itself.
    this.addFile(executable)
    this.#addLink(executable, '/usr/local/bin/python3')
  }

  /** One file under its own path or another, and the libraries that it loads. */
  addFile(source: string, target = source): void {
    if (this.#copied.has(target)) return
    this.#copied.add(target)
    const folder = this.#folder(dirname(target))
    copyFileSync(realpathSync(source), join(folder, basename(target)))
    this.addLibraries(source)
  }

  #addLink(text: string, path: string): void {
    const link = join(this.#folder(dirname(path)), basename(path))
    if (!existsSync(link)) symlinkSync(text, link)
  }

  /** The shared libraries of a program, and the loader. */
  addLibraries(program: string): void {
    for (const line of output('ldd', [program])) {
      const path = /(?:=> )?(?<path>\/\S+) \(0x/.exec(line)?.groups?.path
      if (path !== undefined) this.addFile(path)
    }
  }

  #folder(path: string): string {
    const folder = join(this.#root, existsSync(path) ? realpathSync(path) : path)
    mkdirSync(folder, { recursive: true })
    return folder
  }

  #repeatLink(path: string): void {
    if (!existsSync(path) || !lstatSync(path).isSymbolicLink()) return
    const text = readlinkSync(path)
    mkdirSync(join(this.#root, text), { recursive: true })
    symlinkSync(text, join(this.#root, path))
  }
}

/** Lines of a program's output; none when it fails, as `ldd` does for scripts. */
function output(file: string, args: readonly string[]): string[] {
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore']
    return execFileSync(file, args, { encoding: 'utf8', stdio }).split('\n')
  } catch {
    return []
  }
}
