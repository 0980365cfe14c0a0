import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { patchCssModules } from 'vite-css-modules'

// Django serves index.html at every path that is not the API's, and everything else from /static/.
const base = '/static/'
const backend = process.env['ATELIER_BACKEND'] ?? 'http://127.0.0.1:8000'

/** Names the file of each language in the page, so that `before-paint.js` can ask for the chosen one before the app has begun. */
const namedTexts: Plugin = {
  name: 'named-texts',
  transformIndexHtml: {
    order: 'post',
    handler: (html, { bundle }) => {
      const files = Object.values(bundle ?? {}).flatMap(file => {
        const source = file.type === 'chunk' ? file.facadeModuleId : null
        const language = source?.match(/lib\/texts\/([\w-]+)\.ts$/)?.[1]
        return language ? [`data-${language}="/static/${file.fileName}"`] : []
      })
      return html.replace('/before-paint.js"', `/before-paint.js" ${files.sort().join(' ')}`)
    },
  },
}

/** Writes the landing page, which the code of the environment `landing` renders: a visitor loads neither React nor the app. */
const landingPage: Plugin = {
  name: 'landing-page',
  applyToEnvironment: environment => environment.name === 'landing',
  async generateBundle(_, bundle) {
    const files = Object.values(bundle)
    const chunk = files.find(file => file.type === 'chunk')
    if (chunk?.type !== 'chunk') throw new Error('The landing page has no code.')
    delete bundle[chunk.fileName]
    const code: typeof import('./src/app/landing/render') = await import(
      `data:text/javascript;base64,${Buffer.from(chunk.code).toString('base64')}`
    )
    const stylesheets = files.map(file => file.fileName).filter(name => name.endsWith('.css'))
    const source = await code.renderLandingPage(base, stylesheets)
    this.emitFile({ type: 'asset', fileName: 'landing.html', source })
  },
}

/** `Button_ink` for `.ink` of `Button.module.css`, in the development tools as well as in the build. */
const generateScopedName = (name: string, file: string) => `${/(\w+)\.module\.css/.exec(file)?.[1]}_${name}`

export default defineConfig({
  base,
  // Tests write no types: what the build wrote is committed.
  plugins: [
    react(),
    namedTexts,
    landingPage,
    ...(process.env['VITEST'] ? [] : [patchCssModules({ generateSourceTypes: true })]),
  ],
  css: { modules: { generateScopedName } },
  resolve: {
    alias: [
      { find: '@', replacement: fileURLToPath(new URL('./src', import.meta.url)) },
      { find: /^entities$/, replacement: fileURLToPath(new URL('./src/ui/prose/entities.ts', import.meta.url)) },
      {
        find: /^get-east-asian-width$/,
        replacement: fileURLToPath(new URL('./src/ui/prose/eastAsianWidth.ts', import.meta.url)),
      },
    ],
  },
  worker: { format: 'es' },
  build: {
    // light-dark() and nesting are kept as written: these are the first versions that read them.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        // What every page begins with comes in two files: the libraries, which change seldom, and ours.
        codeSplitting: {
          groups: [
            { name: 'libraries', test: /node_modules/, tags: ['$initial'] },
            { name: 'app', tags: ['$initial'] },
          ],
        },
      },
    },
  },
  environments: {
    landing: {
      consumer: 'server',
      resolve: { noExternal: true },
      build: {
        emptyOutDir: false,
        copyPublicDir: false,
        emitAssets: true,
        rolldownOptions: {
          input: { landing: fileURLToPath(new URL('./src/app/landing/render.tsx', import.meta.url)) },
          output: { codeSplitting: false },
        },
      },
    },
  },
  builder: {
    async buildApp(builder) {
      for (const name of ['client', 'landing']) {
        const environment = builder.environments[name]
        if (environment) await builder.build(environment)
      }
    },
  },
  server: {
    proxy: {
      '/api': backend,
      '/_allauth': backend,
      '/ws': { target: backend.replace(/^http/, 'ws'), ws: true },
    },
  },
})
