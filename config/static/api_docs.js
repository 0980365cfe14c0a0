// Starts Swagger UI with the schema whose URL is in the page.
const place = document.getElementById('api')

const csrfToken = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? ''

// The dark mode follows the system, as in the web app.
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  // Swagger UI stops after a few operations if it has to draw more than about 130 at once.
  docExpansion: 'none',
  displayOperationId: true,
  defaultModelsExpandDepth: 0,
  // The CSRF token is for writes with a session, and only for our own origin.
  requestInterceptor: request => {
    if (request.method && request.method !== 'GET' && new URL(request.url, location.href).origin === location.origin) {
      request.headers['X-CSRFToken'] = csrfToken()
    }
    return request
  },
})
