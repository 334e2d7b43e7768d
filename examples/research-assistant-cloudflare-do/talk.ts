// Plays the story of README.md against the Worker that `start` runs.
import { dataFolder } from './local-server.ts'
import { playStory } from './story.ts'

try {
  await playStory(dataFolder(), (line) => console.log(line))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
