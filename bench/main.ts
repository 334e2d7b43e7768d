// pnpm bench [--only files,search,…] [--no-peers]: ratios against limits and peers in one run.
import { parseArgs } from 'node:util'
import { installPeers } from './harness/peers.ts'
import { summarise, type Verdict } from './harness/report.ts'

const workloads = {
  files: () => import('./workloads/files.ts'),
  search: () => import('./workloads/search.ts'),
  edit: () => import('./workloads/edit.ts'),
  dispatch: () => import('./workloads/dispatch.ts'),
  permissions: () => import('./workloads/approval/permissions.ts'),
  code: () => import('./workloads/code.ts'),
  shell: () => import('./workloads/shell.ts'),
  'shell-engine': () => import('./workloads/shell-engine.ts'),
  store: () => import('./workloads/stored/store.ts'),
  postgres: () => import('./workloads/stored/postgres.ts'),
  queue: () => import('./workloads/stored/queue.ts'),
  requests: () => import('./workloads/approval/requests.ts'),
  loop: () => import('./workloads/loop.ts'),
  llm: () => import('./workloads/llm.ts'),
  memory: () => import('./workloads/memory.ts'),
  snapshots: () => import('./workloads/stored/snapshots.ts'),
  history: () => import('./workloads/stored/history.ts'),
  streams: () => import('./workloads/stored/streams.ts'),
  filestore: () => import('./workloads/filestore.ts'),
  fleet: () => import('./workloads/fleet.ts'),
  sandbox: () => import('./workloads/sandbox.ts'),
  size: () => import('./workloads/size.ts'),
} satisfies Record<string, () => Promise<{ run(peers: boolean): Promise<Verdict[]> }>>

const { values } = parseArgs({
  options: { only: { type: 'string' }, peers: { type: 'boolean', default: true } },
  allowNegative: true,
})
if (values.peers) installPeers()
const wanted = values.only?.split(',')
const verdicts: Verdict[] = []
for (const [name, load] of Object.entries(workloads)) {
  if (wanted !== undefined && !wanted.includes(name)) continue
  const workload = await load()
  verdicts.push(...(await workload.run(values.peers)))
}
summarise(verdicts)
