import { test } from 'vitest'
import { inObject, openFiles } from './objects.ts'
const tick = () => scheduler.wait(1)
async function time(label: string, n: number, f: (i: number) => unknown) {
  for (let i = 0; i < Math.min(n, 50); i++) await f(i)
  const rounds: number[] = []
  for (let r = 0; r < 11; r++) {
    await tick()
    const a = Date.now()
    for (let i = 0; i < n; i++) { const p = f(i); if (p instanceof Promise) await p }
    await tick()
    rounds.push(((Date.now() - a - 1) * 1000) / n)
  }
  const s = rounds.toSorted((a, b) => a - b)
  console.log(label.padEnd(40), s[5]!.toFixed(1), 'us  min', s[0]!.toFixed(1))
}
test('bench', async () => {
  await inObject(async (storage) => {
    const { sql } = storage
    const fs = await openFiles(storage)
    const text = 'hello world text '.repeat(241).slice(0, 4096)
    const bytes = new TextEncoder().encode(text)
    sql.exec('CREATE TABLE raw (id INTEGER PRIMARY KEY, data)')
    sql.exec('CREATE TABLE rawm (id INTEGER PRIMARY KEY, data)')
    sql.exec('CREATE TABLE meta (parent TEXT, name TEXT, size INTEGER, mtime INTEGER, PRIMARY KEY (parent,name)) WITHOUT ROWID')
    for (let i = 0; i < 2000; i++) sql.exec('INSERT INTO meta VALUES (?,?,1,1)', '/d/', `f${i}`)
    const N = 1000
    let k = 0
    await time('raw rowid insert 4K new', N, () => sql.exec('INSERT OR REPLACE INTO raw VALUES (?,?)', k++, text))
    await time('fs write new 4K text', N, () => fs.writeFile(`/d/n${k++}`, text))
    await time('raw rowid upsert 4K', N, (i) => sql.exec('INSERT OR REPLACE INTO raw VALUES (?,?)', i, text))
    await time('fs overwrite 4K text', N, (i) => fs.writeFile(`/d/f${i}`, text))
    await time('fs overwrite 4K bytes', N, (i) => fs.writeFile(`/d/f${i}`, bytes))
    await time('raw read 4K', N, (i) => sql.exec('SELECT data FROM raw WHERE id=?', i).toArray())
    await time('fs readText 4K', N, (i) => fs.readText!(`/d/f${i}`))
    await time('fs readFile 4K', N, (i) => fs.readFile(`/d/f${i}`))
    await time('raw meta', N, (i) => sql.exec('SELECT size, mtime FROM meta WHERE parent=? AND name=?', '/d/', `f${i}`).toArray())
    await time('fs stat', N, (i) => fs.stat(`/d/f${i}`))
    const mib = 'some line of text that is here\n'.repeat(33826).slice(0, 1048576)
    const mibB = new TextEncoder().encode(mib)
    const c = mibB.subarray(0, 65536)
    let m = 0
    await time('raw 1MiB new 16x64K', 20, () => storage.transactionSync(() => { for (let j = 0; j < 16; j++) sql.exec('INSERT OR REPLACE INTO rawm VALUES (?,?)', m++, c) }))
    await time('fs write 1MiB bytes new', 20, () => fs.writeFile(`/m/t${k++}`, mibB))
    await time('fs write 1MiB text new', 20, () => fs.writeFile(`/m/t${k++}`, mib))
    await time('raw 1MiB upsert 16x64K', 20, () => storage.transactionSync(() => { for (let j = 0; j < 16; j++) sql.exec('INSERT OR REPLACE INTO rawm VALUES (?,?)', j, c) }))
    const other = mibB.map((x) => x ^ 1)
    let flip = 0
    await time('fs overwrite 1MiB bytes (all differ)', 20, () => fs.writeFile('/m/b', flip++ % 2 ? mibB : other))
    await time('raw read 1MiB', 30, () => sql.exec('SELECT data FROM rawm WHERE id < 16').toArray())
    await time('fs readFile 1MiB', 30, () => fs.readFile('/m/b'))
    await fs.writeFile('/m/t', mib)
    await time('fs readText 1MiB', 30, () => fs.readText!('/m/t'))
    let e = 0
    await time('fs edit 1MiB end to end', 30, async () => {
      const t = await fs.readText!('/m/t')
      const at = 31 * (1000 + (e++ * 991) % 30000)
      await fs.writeFile('/m/t', t.slice(0, at) + 'X' + t.slice(at))
    })
    await time('append 100 B', 300, () => fs.appendFile('/log', 'x'.repeat(100)))
  })
  await inObject(async (storage) => {
    const { sql } = storage
    const fs = await openFiles(storage)
    const body = 'line of source text here; '.repeat(80).slice(0, 2048)
    for (let i = 0; i < 10000; i++) await fs.writeFile(`/t/${i % 20}/${i % 400}/file-${i}.${i % 3 ? 'ts' : 'js'}`, body)
    await time('raw ls range', 300, () => sql.exec("SELECT name, size FROM helix_fs_nodes WHERE namespace=1 AND directory='/t/5/105/'").toArray())
    await time('ls 25 files of 10k', 300, () => fs.ls('/t/5/105'))
    await time('raw glob', 10, () => sql.exec("SELECT group_concat(directory || name, char(0)) FROM helix_fs_nodes WHERE namespace=1 AND directory >= '/t/' AND directory < '/t0' AND name GLOB '*.ts'").toArray())
    await time('glob **/*.ts 10k', 10, () => fs.glob('**/*.ts', { path: '/t' }))
    await time('raw instr join', 5, () => sql.exec("SELECT n.name FROM helix_fs_nodes n JOIN helix_fs_blocks b ON b.id=n.content WHERE namespace=1 AND directory >= '/t/' AND directory < '/t0' AND instr(b.data, ?) > 0", new TextEncoder().encode('needleInHay')).toArray())
    await time('grep miss 10k', 5, () => fs.grep('needleInHay', { path: '/t' }))
    let k = 0
    await time('copy 10k', 1, () => fs.copy('/t', `/c${k++}`))
    await time('move 10k', 1, () => fs.move(`/c${k - 1}`, `/c${k++}`))
    await time('rm 10k', 1, async () => { const p = (await fs.ls('/')).find((x) => x.name.startsWith('c')); if (p) await fs.rm(p.path, { recursive: true }) })
  })
}, 300000)
