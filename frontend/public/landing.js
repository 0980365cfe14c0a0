// The landing page (src/app/landing/) has its texts in all languages. Those in the language of the document are shown.
document.addEventListener('change', ({ target }) => {
  const language = target.value
  document.documentElement.lang = language
  // Each choice stays that of its own language.
  for (const option of target.options) option.selected = option.defaultSelected
  document.querySelector(`body > [lang="${language}" i] select`).focus()
  localStorage.setItem('atelier.language', language)
})
