// Starts Swagger UI on the schema that the page names.
const place = document.getElementById('api')

const csrfToken = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? ''

// By system, as the web app does.
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  docExpansion: 'list',
  displayOperationId: true,
  defaultModelsExpandDepth: 0,
  // Only what goes to us; a session needs it to write.
  requestInterceptor: request => {
    if (request.method && request.method !== 'GET' && new URL(request.url, location.href).origin === location.origin) {
      request.headers['X-CSRFToken'] = csrfToken()
    }
    return request
  },
})
