import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('..', import.meta.url))

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => relative(src, join(entry.parentPath, entry.name)))
const read = (file: string) => readFileSync(join(src, file), 'utf8')
const sheets = files.filter(file => file.endsWith('.module.css'))
const getSheetName = (sheet: string) => basename(sheet, '.module.css')

const removeComments = (css: string) => css.replace(/\/\*[\s\S]*?\*\//g, '')
/** Extracts the selectors, because dots also occur in numbers and file names. */
const extractSelectors = (css: string) =>
  [...removeComments(css).matchAll(/[^{};]+(?=\{)/g)].map(([selector]) => selector).join(' ')
const listClasses = (selectors: string) => [...selectors.matchAll(/\.([A-Za-z][\w-]*)/g)].map(([, name = '']) => name)
const listGlobalClasses = (selectors: string) =>
  [...selectors.matchAll(/:global\(\.([\w-]+)\)/g)].map(([, name = '']) => name)

test('style sheets have distinct names, because class names contain them', () => {
  expect(sheets.length).toBeGreaterThan(30)
  expect(sheets.map(getSheetName).filter((name, at, all) => all.indexOf(name) !== at)).toEqual([])
})

const known = new Set(listClasses(extractSelectors(read('styles/ground.css'))))

test('a style sheet uses only global classes that exist', () => {
  // Classes of highlight.js, and utility classes without rules of their own.
  const isForeign = (name: string) => name.startsWith('hljs-') || ['end', 'short', 'spread'].includes(name)
  const unknown = sheets.flatMap(sheet =>
    listGlobalClasses(extractSelectors(read(sheet)))
      .filter(name => !known.has(name) && !isForeign(name))
      .map(name => `${sheet}: ${name}`),
  )
  expect(unknown).toEqual([])
})

test('ui uses no class of a feature or of the app', () => {
  const upper = new Set(sheets.filter(sheet => !sheet.startsWith('ui/')).map(getSheetName))
  const wrong = sheets
    .filter(sheet => sheet.startsWith('ui/'))
    .flatMap(sheet => listGlobalClasses(extractSelectors(read(sheet))).map(name => `${sheet}: ${name}`))
    .filter(rule => upper.has(rule.split(': ')[1]?.split('_')[0] ?? ''))
  expect(wrong).toEqual([])
})

/** Returns whether a node inside a class name decides which text is used, and so is none: a condition, a key. */
function isNoClass(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isConditionalExpression(parent)) return parent.condition === node
  if (ts.isElementAccessExpression(parent)) return parent.argumentExpression === node
  if (ts.isPropertyAssignment(parent)) return parent.name === node
  if (!ts.isBinaryExpression(parent)) return false
  const sign = parent.operatorToken.getText()
  return sign.includes('==') || (sign === '&&' && parent.left === node)
}

const isText = (node: ts.Node) =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)

/** Lists the plain class names in the values of `className`, in the arguments of `cx`, and in the constants that these name. */
function listPlainClasses(source: ts.SourceFile): string[] {
  const found: string[] = []
  const constants = new Map<string, ts.Expression>()
  const collect = (node: ts.Node) => {
    if (isNoClass(node)) return
    if (isText(node)) found.push(...(node as ts.LiteralLikeNode).text.split(/\s+/))
    const constant = ts.isIdentifier(node) && constants.get(node.text)
    if (constant) {
      constants.delete(node.getText())
      collect(constant)
    }
    ts.forEachChild(node, collect)
  }
  const visit = (node: ts.Node) => {
    const value = ts.isVariableDeclaration(node) && readTexts(node.initializer)
    if (value) constants.set(node.name.getText(), value)
    if (ts.isJsxAttribute(node) && node.name.getText().endsWith('lassName')) ts.forEachChild(node, collect)
    else if (ts.isCallExpression(node) && node.expression.getText() === 'cx') node.arguments.forEach(collect)
    else ts.forEachChild(node, visit)
  }
  visit(source)
  return found.filter(Boolean)
}

/** Returns the value of a constant if it is a text or an object. */
function readTexts(value: ts.Expression | undefined): ts.Expression | null {
  const inner = value && ts.isAsExpression(value) ? value.expression : value
  return inner && (ts.isObjectLiteralExpression(inner) || ts.isStringLiteralLike(inner)) ? inner : null
}

const parse = (code: string) => ts.createSourceFile('a.tsx', code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)

test('plain class names are found wherever they are written', () => {
  const code = `
    const kinds = { '+': 'new', ' ': '' } as const
    const a = <i className="row wrap" />
    const b = <i className={cx(styles.d, 'gap', tone === 'ink' && 'dark', styles['other'])} />
    const c = <i className={\`d \${kinds[sign]}\`.trim()} />
    const d = <i className={isOpen ? 'open' : undefined} title="no class" />`
  expect(listPlainClasses(parse(code)).sort()).toEqual(['d', 'dark', 'gap', 'new', 'open', 'row', 'wrap'])
})

test('a component uses only plain class names that the global style sheet has', () => {
  const isMarker = (name: string) => ['end', 'short', 'spread'].includes(name)
  const unknown = files
    .filter(file => file.endsWith('.tsx') && !file.includes('test'))
    .flatMap(file => listPlainClasses(parse(read(file))).map(name => [file, name] as const))
    .filter(([, name]) => !known.has(name) && !isMarker(name))
    .map(([file, name]) => `${file}: ${name}`)
  expect(unknown).toEqual([])
})
