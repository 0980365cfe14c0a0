// Runs before the first paint: a chosen theme and language show at once. What changes them later is in src/lib/theme.ts, language.ts.
;(() => {
  const theme = localStorage.getItem('atelier.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme

  const spoken = tag => {
    const low = tag.toLowerCase()
    if (low.startsWith('en')) return 'en'
    return low.startsWith('zh') ? (/hant|-tw|-hk|-mo/.test(low) ? 'zhHant' : 'zhHans') : null
  }
  const stored = localStorage.getItem('atelier.language')
  const language = (stored && spoken(stored)) ?? navigator.languages.map(spoken).find(Boolean) ?? 'en'
  document.documentElement.lang = language.replace('zhH', 'zh-H')

  // The texts of the app come beside it and not after it.
  const files = document.currentScript?.dataset
  if (!files?.[language]) return
  const link = document.createElement('link')
  Object.assign(link, { rel: 'modulepreload', href: files[language] })
  document.head.append(link)
})()
