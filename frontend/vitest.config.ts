import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import vite from './vite.config.ts'

interface Chromium {
  path: string
  flags: string[]
  environment: Record<string, string>
}

/** The Chromium of the browser stories (tests/browser.py): one that is installed, else the one that `make dev` got. */
function findChromium(): Chromium {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const python = process.env['ATELIER_PYTHON'] ?? `${root}.venv/bin/python`
  try {
    return JSON.parse(execFileSync(python, ['-m', 'tests.browser'], { cwd: root, encoding: 'utf8' })) as Chromium
  } catch (cause) {
    throw new Error('Component tests need the Chromium of `make dev`; `npm run test:unit` runs without.', { cause })
  }
}

/** Asked for in the process that starts vitest, and not again by its workers or for the unit tests alone. */
const isUnitOnly = process.argv.includes('--project=unit')
const chromium = isUnitOnly ? null : findChromium()

/** Those that `colours.worker.ts` loads when they are met. */
const languages = [
  ...readFileSync(new URL('src/ui/prose/colours.worker.ts', import.meta.url), 'utf8').matchAll(
    /lib\/languages\/(\w+)/g,
  ),
].map(([, language]) => language)

const components = {
  extends: true as const,
  test: {
    name: 'components',
    include: ['src/**/*.ctest.tsx'],
    setupFiles: ['src/testing/components.ts'],
    css: { include: /.+/, modules: { classNameStrategy: 'scoped' as const } },
    testTimeout: 15_000,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      instances: [{ browser: 'chromium' as const }],
      provider: playwright({
        actionTimeout: 5_000,
        launchOptions: {
          ...(chromium ? { executablePath: chromium.path, args: chromium.flags } : {}),
          env: { ...(process.env as Record<string, string>), ...chromium?.environment },
        },
      }),
    },
  },
  // A package that is found late loads the page anew in the middle of a test.
  optimizeDeps: {
    include: [
      'react',
      'react-dom/client',
      'react/jsx-dev-runtime',
      'vitest-browser-react',
      '@tanstack/react-query',
      '@tanstack/react-router',
      'axe-core',
      'cmdk',
      'lucide-react',
      'katex',
      'lowlight',
      ...languages.map(language => `highlight.js/lib/languages/${language}`),
      'radix-ui',
      'radix-ui/internal',
      'react-error-boundary',
      'tinykeys',
      'markdown-it',
      'uuid',
      'virtua',
    ],
  },
}

export default defineConfig({
  ...vite,
  // The one that renders the landing page includes its packages, and Vitest would take that over for the unit tests.
  environments: {},
  // The page of the tests is at the root, and no file goes to Django.
  base: '/',
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          include: ['src/**/*.test.{ts,tsx}'],
          // The first test of a file waits for its modules.
          testTimeout: 30_000,
          css: { modules: { classNameStrategy: 'non-scoped' } },
        },
      },
      ...(isUnitOnly ? [] : [components]),
    ],
  },
})
