// A worker as a module of a user opens it, without a database.
export async function openWorker() {
  let state = 'created'
  return {
    worker: {
      start: async () => void (state = 'running'),
      stop: async () => void (state = 'stopped'),
      health: () => ({ state, machine: 'm', concurrency: 3 }),
    },
    close: async () => void process.stdout.write(`closed after ${state}\n`),
  }
}
