import { BRANCH_FILES_HEADER, branchPointSchema } from '../http/branch-files.ts'
import { STAGE_PARAM, WORKSPACE_PARAM } from '../http/branch-files.ts'
import type { Caller } from './caller.ts'
import { toObjectRequest } from './object-request.ts'
import { sendToObject } from './send-to-object.ts'
import type { SessionPath } from './session-path.ts'

/** One end of a branch: an object, its session, and who asks it. */
export interface BranchEnd {
  readonly stub: DurableObjectStub
  readonly path: SessionPath
  readonly caller: Caller
}

/** The two objects of a branch with files. */
export interface BranchWithFiles {
  readonly request: Request
  readonly from: BranchEnd
  readonly to: BranchEnd
  /** What the source has answered: what the branch begins with, and which files. */
  readonly seed: Response
}

/**
 * The files of each workspace go from object to object as one stream, in constant memory; the session is
 * made when all are there. What fails on the way leaves no session; what has come is removed later.
 */
export async function branchWithFiles(branch: BranchWithFiles): Promise<Response> {
  const { request, from, to, seed } = branch
  const point = branchPointSchema.parse(JSON.parse(seed.headers.get(BRANCH_FILES_HEADER) ?? ''))
  const begins = await seed.text()
  const stage = crypto.randomUUID()
  for (const workspace of point.workspaces) {
    const query = { checkpointId: point.checkpointId, [WORKSPACE_PARAM]: workspace }
    const ask = new Request(withQuery(request, query), { headers: headersOf(request) })
    const files = await send(from, ask, '/files')
    if (!files.ok) return files
    const { body } = files
    const bring = postOf(request, { [STAGE_PARAM]: stage, [WORKSPACE_PARAM]: workspace }, body)
    const stored = await send(to, bring)
    if (!stored.ok) return stored
    await stored.body?.cancel()
  }
  return send(to, postOf(request, { [STAGE_PARAM]: stage }, begins))
}

/** Without a path: it brings the new session what it begins with. */
function send({ stub, path, caller }: BranchEnd, request: Request, rest?: string) {
  const { agent, sessionId, base } = path
  const target = { agent, sessionId, base, caller, isSeed: rest === undefined }
  return sendToObject(stub, toObjectRequest(request, rest ?? path.rest, target))
}

function postOf(
  request: Request,
  query: Readonly<Record<string, string>>,
  body: BodyInit | null,
): Request {
  return new Request(withQuery(request, query), {
    method: 'POST',
    headers: headersOf(request),
    body,
  })
}

function withQuery({ url }: Request, query: Readonly<Record<string, string>>): URL {
  const next = new URL(url)
  next.search = String(new URLSearchParams(query))
  return next
}

function headersOf({ headers }: Request): Headers {
  const passed = new Headers(headers)
  passed.delete('content-length')
  passed.set('content-type', 'application/json')
  return passed
}
