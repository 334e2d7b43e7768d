/** What the kit declares: all there is, and an end that can be checked. */
export const conformanceConfig = {
  kind: 'cloudflare-sandbox',
  destroyOnClose: true,
  backupR2Binding: 'BACKUP_BUCKET',
} as const

export const EXTRAS = ['background', 'processes', 'stateful-code'] as const

/** Planted where the test bed runs; nothing in a container may show them. */
export const HOST_SECRETS = ['sk-planted-secret-5309']
