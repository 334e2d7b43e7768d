import { importTar } from '@helix-agents/snapshot-archive'
import { DOSnapshotStore } from '@helix-agents/store-cloudflare'
import {
  recordBegun,
  recordSnapshot,
  scopeOf,
  STAGE_PARAM,
  WORKSPACE_PARAM,
} from './branch-files.ts'
import { RequestError } from './http-error.ts'
import type { SessionRequest } from './session-request.ts'

/** The files of a workspace, before the session of the branch is there. They are stored as they come. */
export async function takeBranchFiles<Env>({
  request,
  url,
  access: { host, agent, session },
}: SessionRequest<Env>): Promise<Response> {
  if (session !== null) throw new RequestError(409, 'session-exists', 'the new session exists')
  host.assertNotErasing()
  const stage = url.searchParams.get(STAGE_PARAM) ?? ''
  const workspace = url.searchParams.get(WORKSPACE_PARAM) ?? ''
  if (request.body === null) throw new RequestError(400, 'invalid-request', 'there are no files')
  const { sessionId, clock, ctx } = host
  const createdAt = clock.now()
  await recordBegun(host, stage)
  const identity = { sessionId, agentType: agent.name, workspace, workspaceId: workspace }
  const { header } = await importTar(
    request.body,
    { store: new DOSnapshotStore(ctx.storage), scope: scopeOf(stage) },
    { identity: { ...identity, providerId: 'branch', createdAt } },
  )
  recordSnapshot(host, stage, [workspace, header.snapshotId])
  return Response.json({ snapshotId: header.snapshotId }, { status: 201 })
}
