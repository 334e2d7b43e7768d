import { beforeEach, expect, it } from 'vitest'
import { events, failure } from '../support/client.ts'
import { ALONE, describeServer } from '../support/fixture.ts'
import { RECORDED } from '../support/recorded.ts'

const ARCHIVE = '/var/backups/one.sqsh'
const UNPACK = `/usr/bin/unsquashfs -f -d '/workspace' '${ARCHIVE}'`

describeServer('backup', (fixture) => {
  const shell = async (command: string) =>
    (await fixture.client.root.commands.execute(command, ALONE)).stdout
  const pack = async (options = {}) => {
    const session = await fixture.newSession()
    return fixture.client.root.backup.createArchive('/workspace', ARCHIVE, session, options)
  }
  /** Unpacks as the SDK does: by a command in a session. */
  const unpack = async () =>
    fixture.client.root.commands.execute(UNPACK, await fixture.newSession(), { origin: 'internal' })

  beforeEach(() => shell('rm -rf /workspace/* /workspace/.??*'))

  it('packs and unpacks files, modes, links and hidden names', async () => {
    await shell('mkdir -p a/b; echo 1 > a/b/x; chmod 700 a/b/x; ln -s x a/b/l; echo h > .hidden')
    const reply = await pack()
    expect(reply).toMatchObject({ success: true, archivePath: ARCHIVE })
    expect(reply.sizeBytes).toBe(Number(await shell(`stat -c %s ${ARCHIVE}`)))
    await shell('rm -rf a .hidden')
    expect((await unpack()).exitCode).toBe(0)
    expect(await shell('cat a/b/l .hidden; stat -c %a a/b/x')).toBe('1\nh\n700\n')
  })

  it('merges: files that are absent from the archive survive, the others come back', async () => {
    await shell('echo old > changed')
    await pack()
    await shell('echo new > changed; echo extra > extra')
    await unpack()
    expect(await shell('cat changed extra')).toBe('old\nextra\n')
  })

  it('leaves out what the wildcards name, from the top', async () => {
    await shell('mkdir -p node_modules/x sub/node_modules; touch a.log sub/b.log keep')
    await pack({ excludes: ['node_modules', '*.log'] })
    await shell('rm -rf ./*')
    await unpack()
    expect(await shell('find . -mindepth 1 | sort')).toBe(
      './keep\n./sub\n./sub/b.log\n./sub/node_modules\n',
    )
  })

  it('leaves out what git ignores when asked to', async () => {
    await shell('git init -q .; echo ignored > .gitignore; touch ignored kept')
    await pack({ gitignore: true })
    await shell('rm -rf ignored kept')
    await unpack()
    expect(await shell('ls')).toBe('kept\n')
  })

  it('is read back as binary events of exactly its size', async () => {
    await shell('echo text > text')
    const { sizeBytes } = await pack()
    const found = await events(await fixture.client.root.files.readFileStream(ARCHIVE, ALONE))
    expect(found[0]).toMatchObject({ isBinary: true, encoding: 'base64', size: sizeBytes })
    expect(found.at(-1)).toMatchObject({ type: 'complete', bytesRead: sizeBytes })
  })

  it(`stores of a link the link alone, without an error (${RECORDED})`, async () => {
    await shell('mkdir /tmp/real; echo x > /tmp/real/x; ln -s /tmp/real /tmp/link')
    const { backup } = fixture.client.root
    expect(await backup.createArchive('/tmp/link', ARCHIVE, ALONE)).toMatchObject({ success: true })
    await unpack()
    expect(await shell('find . -mindepth 1')).toBe('./link\n')
  })

  it('says how many inodes there are in its head, as squashfs does', async () => {
    await shell('mkdir d; echo x > d/x; ln d/x d/y; ln -s x d/l')
    await pack()
    // The directory itself is one of them.
    expect(await shell(`head -c 8 ${ARCHIVE} | od -An -tx1`)).toBe(' 68 73 71 73 04 00 00 00\n')
  })

  it('fails for a directory that is missing, and leaves no archive', async () => {
    const { backup } = fixture.client.root
    const error = await failure(backup.createArchive('/nowhere', '/var/backups/no', ALONE))
    expect(error.code).toBe('BACKUP_CREATE_FAILED')
    expect(await shell('ls /var/backups/no 2>/dev/null')).toBe('')
  })

  it('fails to restore an archive that is missing', async () => {
    const { backup } = fixture.client.root
    const error = await failure(backup.restoreArchive('/workspace', '/var/backups/no', ALONE))
    expect(error.code).toBe('BACKUP_RESTORE_FAILED')
  })
})
