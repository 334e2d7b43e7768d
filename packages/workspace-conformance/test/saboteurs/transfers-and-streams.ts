import { FileSystemError } from '@helix-agents/core'
import type { TransferOptions } from '@helix-agents/core/provider'
import { type FsSaboteur, input, recode, replace, result, swallow } from './break-file-system.ts'

type Method = 'copy' | 'move'

/** Writes the pieces as they come, straight into the file. */
const writesThrough = replace((good) => ({
  writeStream: async (path, source) => {
    await good.writeFile(path, '')
    for await (const piece of source) await good.appendFile(path, piece)
    return good.stat(path)
  },
}))

const readsAsText = result('readStream', async (stream) => {
  const text = await new Response(stream).text()
  return new Blob([text]).stream()
})

function shared(method: Method): Readonly<Record<string, FsSaboteur>> {
  const withOptions = (change: (options?: TransferOptions) => TransferOptions): FsSaboteur =>
    replace((good) => ({
      [method]: (from: string, to: string, options?: TransferOptions) =>
        good[method](from, to, change(options)),
    }))
  const always = withOptions(() => ({ overwrite: true }))
  return {
    [`fs/${method}/a-missing-source-is-not-found`]: swallow(method),
    [`fs/${method}/an-existing-target-is-rejected`]: always,
    [`fs/${method}/overwrite-replaces-a-file`]: withOptions(() => ({})),
    [`fs/${method}/over-a-directory-is-rejected`]: recode(method, 'is-directory'),
    [`fs/${method}/onto-itself-loses-nothing`]: replace((good) => ({
      [method]: async (from: string, to: string, options?: TransferOptions) => {
        if (options?.overwrite) await good.rm(to, { recursive: true })
        return good[method](from, to, options)
      },
    })),
    [`fs/${method}/into-its-own-child-is-rejected`]: recode(method, 'invalid-path'),
    [`fs/${method}/a-name-that-only-starts-alike-is-no-child`]: replace((good) => ({
      [method]: (from: string, to: string) =>
        to.startsWith(from)
          ? Promise.reject(new FileSystemError('invalid-path', to))
          : good[method](from, to),
    })),
    [`fs/${method}/past-the-limits-of-paths-is-rejected`]: swallow(method),
    [`fs/${method}/below-a-file-is-rejected`]: replace((good) => ({
      [method]: async (from: string, to: string) => {
        await good.rm('/b')
        return good[method](from, to)
      },
    })),
  }
}

/** The copy and the original are one: a change of one is a change of both. */
const sharesContent = replace((good) => {
  const links = new Map<string, string>()
  const target = (path: string): string => {
    for (const [link, to] of links) if (path.startsWith(link)) return to + path.slice(link.length)
    return path
  }
  return {
    copy: async (from, to) => void links.set(to, from),
    readFile: (path) => good.readFile(target(path)),
    writeFile: (path, data) => good.writeFile(target(path), data),
    appendFile: (path, data) => good.appendFile(target(path), data),
    rm: (path, options) => good.rm(target(path), options),
    ls: (path) => good.ls(target(path)),
  }
})

const copiesOnly = replace((good) => ({
  move: (from, to, options) => good.copy(from, to, options),
}))

export const transferSaboteurs: Readonly<Record<string, FsSaboteur>> = {
  ...shared('copy'),
  ...shared('move'),
  'fs/copy/the-copy-is-independent': sharesContent,
  'fs/copy/a-subtree': sharesContent,
  'fs/copy/removing-the-copy-keeps-the-original': sharesContent,
  'fs/move/a-file': copiesOnly,
  'fs/move/a-subtree': copiesOnly,
}

export const streamSaboteurs: Readonly<Record<string, FsSaboteur>> = {
  'fs/stream/reads-a-whole-file': readsAsText,
  'fs/stream/reads-a-range-of-bytes': replace((good) => ({
    readStream: async (path, { offset = 0, length = Infinity } = {}) => {
      const text = new TextDecoder().decode(await good.readFile(path))
      return new Blob([text.slice(offset, offset + length)]).stream()
    },
  })),
  'fs/stream/a-range-past-the-end-is-short-or-empty': replace((good) => ({
    readStream: async (path, options) => {
      const { size } = await good.stat(path)
      if ((options?.offset ?? 0) >= size) throw new FileSystemError('invalid-path', path)
      return good.readStream(path, options)
    },
  })),
  'fs/stream/missing-is-known-before-the-stream': swallow('readStream', new ReadableStream()),
  'fs/stream/a-directory-is-known-before-the-stream': recode('writeStream', 'is-directory'),
  'fs/stream/a-reader-may-stop-early': replace((good) => {
    let reading = 0
    return {
      readStream: async (path, options) => {
        reading += 1
        return good.readStream(path, options)
      },
      writeFile: (path, data) =>
        reading > 0
          ? Promise.reject(new FileSystemError('permission-denied', path))
          : good.writeFile(path, data),
    }
  }),
  'fs/stream/stores-every-piece': replace((good) => ({
    writeStream: async (path, source) => good.writeFile(path, await new Response(source).text()),
  })),
  'fs/stream/more-than-two-megabytes': readsAsText,
  'fs/stream/a-failing-source-leaves-the-old-file': writesThrough,
  'fs/stream/a-failing-source-makes-no-file': writesThrough,
  'fs/stream/if-absent-rejects-an-existing-file': input('writeStream', (path, source) => [
    path,
    source,
  ]),
  'fs/stream/if-version-rejects-a-changed-file': input('writeStream', (path, source) => [
    path,
    source,
  ]),
}
