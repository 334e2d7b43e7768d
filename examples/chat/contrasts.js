// Runs in the page: texts whose contrast to their background is less than 4.5.
;(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const luminance = (color) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) => {
      const part = byte / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element) => {
    if (element === null) return 'white'
    const color = getComputedStyle(element).backgroundColor
    return color === 'rgba(0, 0, 0, 0)' ? behind(element.parentElement) : color
  }
  return [...document.querySelectorAll('h1, h2, a, p, pre, span, label, button:enabled, textarea')]
    .filter((element) => element.checkVisibility() && element.textContent.trim() !== '')
    .flatMap((element) => {
      const [dark, light] = [getComputedStyle(element).color, behind(element)]
        .map(luminance)
        .toSorted((a, b) => a - b)
      const ratio = (light + 0.05) / (dark + 0.05)
      return ratio < 4.5 ? [`${element.tagName} ${element.textContent}: ${ratio}`] : []
    })
})()
