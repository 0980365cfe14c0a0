// Runs before the first paint: a chosen theme shows at once. What changes it later is in src/lib/theme.ts.
;(() => {
  const theme = localStorage.getItem('atelier.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme

  // The texts of the chosen language come beside the app and not after it. The choice itself is made in src/lib/language.ts.
  const files = document.currentScript?.dataset
  if (!files?.en) return
  const spoken = tag => {
    const low = tag.toLowerCase()
    if (low.startsWith('en')) return 'en'
    return low.startsWith('zh') ? (/hant|-tw|-hk|-mo/.test(low) ? 'zhHant' : 'zhHans') : null
  }
  const stored = localStorage.getItem('atelier.language')
  const language = (stored && spoken(stored)) ?? navigator.languages.map(spoken).find(Boolean) ?? 'en'
  if (!files[language]) return
  const link = document.createElement('link')
  Object.assign(link, { rel: 'modulepreload', href: files[language] })
  document.head.append(link)
})()
