import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

const backend = process.env['ATELIER_BACKEND'] ?? 'http://127.0.0.1:8000'

export default defineConfig({
  // Django serves index.html at every path that is not the API's, and everything else from /static/.
  base: '/static/',
  plugins: [react()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    // light-dark() and nesting are kept as written: these are the first versions that read them.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: {
      '/api': backend,
      '/_allauth': backend,
      '/ws': { target: backend.replace(/^http/, 'ws'), ws: true },
    },
  },
  test: { environment: 'node', include: ['src/**/*.test.{ts,tsx}'] },
})
