import { loadPeer } from './peers.ts'

/** What the file workloads need of an implementation. */
export interface PeerFileSystem {
  readonly name: string
  readonly write: (path: string, text: string) => unknown
  readonly read: (path: string) => unknown
  readonly stat: (path: string) => unknown
}

interface NodeLike {
  writeFile(path: string, text: string): Promise<unknown>
  readFile(path: string, encoding: string): Promise<unknown>
  stat(path: string): Promise<unknown>
}

export async function memoryPeers(): Promise<PeerFileSystem[]> {
  const found: PeerFileSystem[] = []
  const memfs = await loadPeer<{ memfs(): { fs: { promises: NodeLike } } }>('memfs')
  if (memfs) found.push(nodeLike('memfs', memfs.memfs().fs.promises))
  const bash = await loadPeer<{ InMemoryFs: new () => NodeLike }>('just-bash')
  if (bash) found.push(nodeLike('just-bash InMemoryFs', new bash.InMemoryFs()))
  const shell = await loadPeer<{ InMemoryFs: new () => NodeLike }>('@cloudflare/shell')
  if (shell) found.push(nodeLike('@cloudflare/shell InMemoryFs', new shell.InMemoryFs()))
  return found
}

interface Mastra {
  LocalFilesystem: new (options: { basePath: string }) => NodeLike & { init(): Promise<void> }
}

interface DeepAgents {
  FilesystemBackend: new (options: { rootDir: string; virtualMode: boolean }) => {
    uploadFiles(files: [string, Uint8Array][]): Promise<unknown>
    edit(path: string, oldText: string, newText: string): Promise<unknown>
    readRaw(path: string): Promise<unknown>
  }
}

export async function diskPeers(folder: string): Promise<PeerFileSystem[]> {
  const found: PeerFileSystem[] = []
  const mastra = await loadPeer<Mastra>('@mastra/core/workspace')
  if (mastra) {
    const fs = new mastra.LocalFilesystem({ basePath: folder })
    await fs.init()
    found.push({
      name: 'Mastra LocalFilesystem',
      write: (path, text) => fs.writeFile(path.slice(1), text),
      read: (path) => fs.readFile(path.slice(1), 'utf8'),
      stat: (path) => fs.stat(path.slice(1)),
    })
  }
  const deep = await loadPeer<DeepAgents>('deepagents')
  if (deep) {
    const fs = new deep.FilesystemBackend({ rootDir: folder, virtualMode: true })
    found.push({
      name: 'deepagents FilesystemBackend',
      write: (path, text) => fs.uploadFiles([[path, new TextEncoder().encode(text)]]),
      read: (path) => fs.readRaw(path),
      stat: (path) => fs.readRaw(path),
    })
  }
  return found
}

function nodeLike(name: string, fs: NodeLike): PeerFileSystem {
  return {
    name,
    write: (path, text) => fs.writeFile(path, text),
    read: (path) => fs.readFile(path, 'utf8'),
    stat: (path) => fs.stat(path),
  }
}
