import { attributeBehaviours } from './attributes.ts'
import { backgroundBehaviours } from './background.ts'
import { callbackBehaviours } from './callbacks.ts'
import { endingBehaviours } from './ending.ts'
import { freshStartBehaviours } from './fresh-start.ts'
import { linkBehaviours } from './links.ts'
import { runBehaviours } from './running.ts'
import { assertStartsEmpty, type ShellBehaviour } from './shell-subject.ts'
import { shellFileBehaviours } from './with-files.ts'

const all: readonly ShellBehaviour[] = [
  ...runBehaviours,
  ...freshStartBehaviours,
  ...endingBehaviours,
  ...callbackBehaviours,
  ...shellFileBehaviours,
  ...linkBehaviours,
  ...attributeBehaviours,
  ...backgroundBehaviours,
]

/** Every clause of the `Shell` contract; nothing runs before the shell is seen to start in the workspace. */
export const shellBehaviours: readonly ShellBehaviour[] = all.map((behaviour) => ({
  ...behaviour,
  run: async (ws) => {
    await assertStartsEmpty(ws)
    await behaviour.run(ws)
  },
}))
