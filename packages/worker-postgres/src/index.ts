export { QueueError, type QueueErrorCode } from './queue-error.ts'
export { openTurnQueue, type QueueStats, TurnQueue, type TurnQueueOptions } from './turn-queue.ts'
export type { WorkerRow } from './worker-table.ts'
export { createWorker, Worker, type WorkerHealth, type WorkerOptions } from './worker.ts'
