/** Loads what few programs use, with its first use. Whoever needs a session to itself holds it before. */
export const onDemand = (): Promise<typeof import('./on-demand.ts')> => import('./on-demand.ts')
