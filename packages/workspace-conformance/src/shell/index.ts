import { backgroundBehaviours } from './background.ts'
import { callbackBehaviours } from './callbacks.ts'
import { endingBehaviours } from './ending.ts'
import { freshStartBehaviours } from './fresh-start.ts'
import { linkBehaviours } from './links.ts'
import { runBehaviours } from './running.ts'
import type { ShellBehaviour } from './shell-subject.ts'
import { shellFileBehaviours } from './with-files.ts'

/** Every clause of the `Shell` contract. */
export const shellBehaviours: readonly ShellBehaviour[] = [
  ...runBehaviours,
  ...freshStartBehaviours,
  ...endingBehaviours,
  ...callbackBehaviours,
  ...shellFileBehaviours,
  ...linkBehaviours,
  ...backgroundBehaviours,
]
