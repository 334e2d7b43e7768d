import { createRoot } from 'react-dom/client'
import { Chat, storedMessages } from './chat.tsx'

// A chat is kept by its address: a reload shows it again. To set the hash would be a change of it.
if (location.hash === '') history.replaceState(null, '', `#${crypto.randomUUID()}`)
addEventListener('hashchange', () => location.reload())
const id = location.hash.slice(1)
const place = document.querySelector('#chat')
if (place === null) throw new Error('the page has no #chat')
createRoot(place).render(<Chat id={id} messages={await storedMessages(id)} />)
