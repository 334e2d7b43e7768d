// Where a reader gets the packages. `publication.json` says whether they are on npm: the README, the
// quick start and the examples follow it by `pnpm docs:gen`.
import { read } from '../repository.ts'

/** What is said after the commands that install from npm. */
export function publication(onNpm: boolean = isOnNpm()): string {
  if (onNpm) {
    return `The packages are on [npm](https://www.npmjs.com/package/@helix-agents/sdk), each release with
[provenance](https://docs.npmjs.com/generating-provenance-statements).`
  }
  return `The packages are not on npm yet. Until they are, these commands answer 404; pack the packages in a clone of the repository,
and create the project beside it:

\`\`\`sh install
${localInstall.inClone}    # in the clone: builds every package, packs it into .tarballs
${localInstall.inProject}
\`\`\``
}

/** How a project installs from a clone; also what \`pnpm check:packages\` types. */
export const localInstall = {
  inClone: 'npx -y pnpm@12 tarballs',
  inProject:
    'npx -y --package=../helix-agents/.tarballs/create-helix-agents.tgz create-helix-agents my-agent --packages ../helix-agents/.tarballs',
} as const

function isOnNpm(): boolean {
  return (JSON.parse(read('publication.json')) as { onNpm: boolean }).onNpm
}
