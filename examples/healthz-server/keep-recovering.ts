import { type RecoveryParts, recoverSessions } from './recover-sessions.ts'

/** A session of a process that died can be taken over once its lease is out: asks until then. */
export async function keepRecovering(parts: RecoveryParts, everyMs: number): Promise<() => void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const recover = async (): Promise<void> => {
    const isDone = await recoverOnce(parts)
    if (!isDone && !stopped) timer = setTimeout(() => void recover(), everyMs).unref()
  }
  await recover()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/** Whether nothing is left to ask for; a store that does not answer is asked again. */
async function recoverOnce(parts: RecoveryParts): Promise<boolean> {
  try {
    return (await recoverSessions(parts)).waiting.length === 0
  } catch (err) {
    parts.logger.error({ err }, 'recovery failed')
    return false
  }
}
