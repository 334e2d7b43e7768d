export { BenchObject } from './filestore-object.ts'

interface Bindings {
  readonly BENCH: { getByName(name: string): { fetch(request: Request): Promise<Response> } }
}

export default {
  fetch: (request: Request, { BENCH }: Bindings): Promise<Response> =>
    BENCH.getByName('bench').fetch(request),
}
