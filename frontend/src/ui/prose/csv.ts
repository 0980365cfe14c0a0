/** CSV for spreadsheets. Pure functions. */

/**
 * Where a spreadsheet would begin a formula, whichever character separates its cells. This is the rule of the exports of the
 * server (`common/csv_format.py`): a table can repeat the text of a web page.
 */
const formulaBeginning = /(?:^|[;,|\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r\n])/g
/** Amounts are no formulas: with an apostrophe, a spreadsheet could not add them up. */
const amount = /^[+\-−]?(?:\p{Sc} ?)?\d[\d \u00a0\u202f,.'’]*(?:e[+-]?\d+)? ?[%‰\p{Sc}]?$/iu

/** Returns the rows as CSV (RFC 4180). What a spreadsheet would execute as a formula gets an apostrophe before it. */
export const formatCsv = (rows: readonly (readonly string[])[]): string =>
  rows.map(cells => `${cells.map(formatCell).join(',')}\r\n`).join('')

function formatCell(text: string): string {
  const safe = amount.test(text) ? text : text.replace(formulaBeginning, "$&'")
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
