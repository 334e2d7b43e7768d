export default {
  fetch: (): Response => new Response('the tests are the program'),
}
