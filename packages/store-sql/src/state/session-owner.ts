import type { SqlStatements } from '../sql-database.ts'
import { toSqlText } from '../sql-text.ts'
import { nameColumn, optionalColumn, shapedColumn } from './columns/column.ts'
import { isLabels } from './columns/stored-shapes.ts'

/** Whose a session is. */
export interface SessionOwner {
  /** Name of the agent. */
  readonly agentType: string
  readonly userId?: string
}

const OWNER =
  'SELECT s.agent_type, l.labels FROM helix_sessions s' +
  ' LEFT JOIN helix_labels l ON l.session = s.id WHERE s.session_id = ?'

/** Reads no more than it needs: the rest may be damaged. @throws {SqlError} `corrupt` */
export function loadOwner(sql: SqlStatements, sessionId: string): SessionOwner | undefined {
  const row = sql.get(OWNER, toSqlText(sessionId))
  if (row === undefined) return undefined
  const labels = optionalColumn(row, 'labels', (of, name) => shapedColumn(of, name, isLabels))
  const userId = labels?.userId
  return { agentType: nameColumn(row, 'agent_type'), ...(userId !== undefined && { userId }) }
}
