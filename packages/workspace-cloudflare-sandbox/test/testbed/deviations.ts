import type { Deviation } from '@helix-agents/workspace-conformance'

/** Clauses of the kit that a container of its own answers in another way. */
export const deviations: readonly Deviation[] = [
  {
    behaviour: 'shell/root/replaced-by-a-link-leads-nowhere',
    reason: 'in a container of its own the files stay reachable through a link at the root',
  },
]
