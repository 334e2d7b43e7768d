// The cluster until Ctrl-C, with the page that shows it.
import { once } from 'node:events'
import { startCluster } from './cluster.ts'

await using cluster = await startCluster(['m1', 'm2', 'm3'], {})
console.log(`${cluster.web.url}  POST /turns {"message": "Record.", "tenant": "acme"}`)
for (const [name, { pid }] of cluster.machines) console.log(`${name} is process ${pid}`)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
