import type { FileSystem } from '../contract.ts'

/**
 * A file system that passes every call on, as a plain object to override methods of: a provider's
 * methods are mostly on its prototype. Optional methods are there when the original has them.
 */
export function forwardFileSystem(fs: FileSystem): FileSystem {
  const readText = fs.readText?.bind(fs)
  const watch = fs.watch?.bind(fs)
  return {
    readFile: (path) => fs.readFile(path),
    writeFile: (path, data, options) => fs.writeFile(path, data, options),
    appendFile: (path, data) => fs.appendFile(path, data),
    ls: (path) => fs.ls(path),
    glob: (pattern, options) => fs.glob(pattern, options),
    grep: (pattern, options) => fs.grep(pattern, options),
    stat: (path) => fs.stat(path),
    mkdir: (path, options) => fs.mkdir(path, options),
    rm: (path, options) => fs.rm(path, options),
    copy: (from, to, options) => fs.copy(from, to, options),
    move: (from, to, options) => fs.move(from, to, options),
    readStream: (path, options) => fs.readStream(path, options),
    writeStream: (path, source, options) => fs.writeStream(path, source, options),
    ...(readText && { readText }),
    ...(watch && { watch }),
  }
}
