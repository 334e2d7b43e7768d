import { FileSystemError } from '@helix-agents/core'
import { toBytes, type FileStat } from '@helix-agents/core/provider'
import { type FsSaboteur, input, recode, replace, result, swallow } from './break-file-system.ts'

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const throughText = input('writeFile', (path, data, options) => [
  path,
  typeof data === 'string' ? data : new TextDecoder().decode(data),
  options,
])

/** Reads what is there, waits, writes: two at once lose one. */
const racingAppend = replace((good) => ({
  appendFile: async (path, data) => {
    const old = await good.readFile(path).catch(() => new Uint8Array())
    await Promise.resolve()
    return good.writeFile(path, Uint8Array.of(...old, ...toBytes(data)))
  },
}))

const racingCondition = replace((good) => ({
  writeFile: async (path, data, options = {}) => {
    const stat = await good.stat(path).catch(() => undefined)
    if (options.ifAbsent && stat !== undefined) throw new FileSystemError('already-exists', path)
    if (options.ifVersion !== undefined && stat?.version !== options.ifVersion) {
      throw new FileSystemError('stale-write', path)
    }
    await Promise.resolve()
    return good.writeFile(path, data)
  },
}))

const ignoresConditions = input('writeFile', (path, data) => [path, data])

const needsParent = (method: 'writeFile' | 'appendFile'): FsSaboteur =>
  replace((good) => ({
    [method]: async (path: string, data: string) => {
      await good.stat(path.slice(0, path.lastIndexOf('/')) || '/')
      return good[method](path, data)
    },
  }))

const versionOfTime = (value: FileStat): FileStat => ({ ...value, version: 'now' })

export const readingSaboteurs: Readonly<Record<string, FsSaboteur>> = {
  'fs/read/returns-the-bytes-written': throughText,
  'fs/read/text-is-utf-8': input('writeFile', (path, data) => [
    path,
    typeof data === 'string' ? Uint8Array.from(data, (it) => it.charCodeAt(0)) : data,
  ]),
  'fs/read/invalid-utf-8-and-nul-are-kept': throughText,
  'fs/read/an-empty-file-is-empty': input('writeFile', (path, data) => [path, data || '\n']),
  'fs/read/the-result-is-the-callers': replace((good) => {
    const cache = new Map<string, Uint8Array>()
    const load = async (path: string): Promise<Uint8Array> => {
      const bytes = await good.readFile(path)
      cache.set(path, bytes)
      return bytes
    }
    return { readFile: async (path) => cache.get(path) ?? load(path) }
  }),
  'fs/read/a-missing-file-is-not-found': swallow('readFile', new Uint8Array()),
  'fs/read/a-directory-is-rejected': recode('readFile', 'is-directory'),
  'fs/read/below-a-file-is-rejected': swallow('readFile', new Uint8Array()),
  'fs/read/as-text-keeps-mark-and-line-ends': replace((good) => ({
    readText: async (path) => new TextDecoder().decode(await good.readFile(path)),
  })),
  'fs/read/as-text-replaces-invalid-utf-8': replace((good) => ({
    readText: async (path) => String.fromCharCode(...(await good.readFile(path))),
  })),
  'fs/read/as-text-sees-every-change': replace((good) => {
    const texts = new Map<string, string>()
    return {
      writeFile: (path, data, options) => {
        if (typeof data === 'string') texts.set(path, data)
        return good.writeFile(path, data, options)
      },
      readText: async (path) => texts.get(path) ?? '',
    }
  }),
  'fs/stat/a-file-has-path-type-and-bytes': result('stat', (stat) => ({ ...stat, size: 6 })),
  'fs/stat/a-directory-has-size-0': result('stat', (stat) => ({ ...stat, size: 4096 })),
  'fs/stat/the-root-is-a-directory': replace(() => ({
    stat: (path) => Promise.reject(new FileSystemError('not-found', path)),
  })),
  'fs/stat/missing-is-not-found': recode('stat', 'not-found'),
  'fs/stat/time-is-a-date-that-does-not-go-back': result('stat', (stat) => ({
    ...stat,
    mtime: new Date(0),
  })),
  'fs/stat/reading-keeps-the-version': replace((good) => {
    let reads = 0
    return {
      readFile: (path) => {
        reads += 1
        return good.readFile(path)
      },
      stat: async (path) => ({ ...(await good.stat(path)), version: `read ${reads}` }),
    }
  }),
}

export const writingSaboteurs: Readonly<Record<string, FsSaboteur>> = {
  'fs/write/creates-the-parents': needsParent('writeFile'),
  'fs/write/replaces-the-whole-content': replace((good) => ({
    writeFile: async (path, data) => {
      const old = await good.readFile(path).catch(() => new Uint8Array())
      const bytes = toBytes(data)
      return good.writeFile(path, Uint8Array.of(...bytes, ...old.subarray(bytes.length)))
    },
  })),
  'fs/write/returns-the-stat-of-the-file': result('writeFile', (stat, path) => ({ ...stat, path })),
  'fs/write/keeps-its-own-copy': replace(() => {
    const files = new Map<string, Uint8Array>()
    return {
      writeFile: async (path, data) => {
        files.set(path, toBytes(data))
        return { path, type: 'file', size: 0, mtime: new Date(), version: '1' }
      },
      readFile: async (path) => files.get(path)!,
    }
  }),
  'fs/write/a-part-of-a-buffer-is-only-that-part': input('writeFile', (path, data) => [
    path,
    typeof data === 'string' ? data : new Uint8Array(data.buffer),
  ]),
  'fs/write/every-write-has-a-new-version': result('writeFile', versionOfTime),
  'fs/write/replacement-patterns-are-text': replace((good) => ({
    writeFile: (path, data) =>
      good.writeFile(path, 'old'.replace('old', new TextDecoder().decode(toBytes(data)))),
  })),
  'fs/write/more-than-two-megabytes': result('readFile', (bytes) => bytes.subarray(0, 2_000_000)),
  'fs/write/if-version-writes-an-unchanged-file': replace((good) => ({
    writeFile: (path, data, options) =>
      options?.ifVersion === undefined
        ? good.writeFile(path, data)
        : Promise.reject(new FileSystemError('stale-write', path)),
  })),
  'fs/write/if-version-rejects-a-changed-file': ignoresConditions,
  'fs/write/if-version-rejects-a-removed-file': ignoresConditions,
  'fs/write/if-version-lets-one-of-ten-win': racingCondition,
  'fs/write/if-absent-creates': replace((good) => ({
    writeFile: (path, data, options) =>
      options?.ifAbsent
        ? Promise.reject(new FileSystemError('already-exists', path))
        : good.writeFile(path, data),
  })),
  'fs/write/if-absent-rejects-an-existing-file': ignoresConditions,
  'fs/write/if-absent-lets-one-of-ten-win': racingCondition,
  'fs/write/over-a-directory-is-rejected': recode('writeFile', 'is-directory'),
  'fs/write/over-the-root-is-rejected': swallow('writeFile'),
  'fs/write/below-a-file-is-rejected': replace((good) => ({
    writeFile: async (path, data) => {
      const attempt = good.writeFile(path, data)
      return attempt.catch(async () => {
        await good.rm('/a')
        return good.writeFile(path, data)
      })
    },
  })),
  'fs/append/creates-the-file-and-its-parents': needsParent('appendFile'),
  'fs/append/adds-to-the-end': replace((good) => ({
    appendFile: (path, data) => good.writeFile(path, data),
  })),
  'fs/append/joins-a-character-cut-in-two': replace((good) => ({
    appendFile: async (path, data) => {
      return good.writeFile(path, decode(await good.readFile(path)) + decode(toBytes(data)))
    },
  })),
  'fs/append/has-a-new-version': result('appendFile', versionOfTime),
  'fs/append/to-a-directory-is-rejected': recode('appendFile', 'is-directory'),
  'fs/append/ten-at-once-lose-nothing': racingAppend,
  'fs/append/fifty-at-once-lose-nothing': racingAppend,
}
