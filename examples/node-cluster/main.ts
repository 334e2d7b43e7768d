import { playStory } from './story.ts'

const { attempts, effects } = await playStory((line) => console.log(line))
console.log(attempts >= effects ? 'nothing is lost, nothing is doubled' : 'something is wrong')
