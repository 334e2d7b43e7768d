import type { FileSystem } from '../contract.ts'

/**
 * The methods of a file system as a plain object, which a policy spreads to replace some of them:
 * those of a class are on its prototype. Optional methods are there when the original has them.
 */
export function bindMethods(fs: FileSystem): FileSystem {
  const readText = fs.readText?.bind(fs)
  const watch = fs.watch?.bind(fs)
  return {
    readFile: fs.readFile.bind(fs),
    writeFile: fs.writeFile.bind(fs),
    appendFile: fs.appendFile.bind(fs),
    ls: fs.ls.bind(fs),
    glob: fs.glob.bind(fs),
    grep: fs.grep.bind(fs),
    stat: fs.stat.bind(fs),
    mkdir: fs.mkdir.bind(fs),
    rm: fs.rm.bind(fs),
    copy: fs.copy.bind(fs),
    move: fs.move.bind(fs),
    readStream: fs.readStream.bind(fs),
    writeStream: fs.writeStream.bind(fs),
    ...(readText && { readText }),
    ...(watch && { watch }),
  }
}
