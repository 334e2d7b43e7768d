// The members that the tests use: the types of Workers and of Node do not fit into one project.
declare module 'cloudflare:workers' {
  export const env: { readonly STORE: import('./durable-object-database.ts').StoreNamespace }
  export const DurableObject: new (state: unknown, env: unknown) => object
}

declare module 'cloudflare:test' {
  export function runInDurableObject<T>(
    stub: unknown,
    work: (
      instance: unknown,
      state: { readonly storage: import('./durable-object-database.ts').Storage },
    ) => T | Promise<T>,
  ): Promise<T>
}
