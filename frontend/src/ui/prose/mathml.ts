/** What browsers' MathML (MathML Core) lacks of the MathML that KaTeX writes. Pure functions. */

/** Elements of formulas, and the attributes that they keep. Neither has an address or a style. */
export const attributesByElement: Readonly<Record<string, readonly string[]>> = {
  math: ['display'],
  menclose: [],
  mfrac: ['linethickness'],
  mi: [],
  mn: [],
  mo: [
    'accent',
    'fence',
    'form',
    'largeop',
    'lspace',
    'maxsize',
    'minsize',
    'movablelimits',
    'rspace',
    'separator',
    'stretchy',
    'symmetric',
  ],
  mover: ['accent'],
  mpadded: ['depth', 'height', 'lspace', 'voffset', 'width'],
  mphantom: [],
  mroot: [],
  mrow: [],
  mspace: ['depth', 'height', 'mathbackground', 'width'],
  msqrt: [],
  mstyle: ['displaystyle', 'mathbackground', 'mathcolor', 'mathsize', 'scriptlevel'],
  msub: [],
  msubsup: [],
  msup: [],
  mtable: [],
  mtd: ['columnspan', 'rowspan'],
  mtext: [],
  mtr: [],
  munder: ['accentunder'],
  munderover: ['accent', 'accentunder'],
}

/** The code points of A and of a in an alphabet, and the letters that Unicode has elsewhere. */
const alphabets: Record<string, { upper: number; lower: number; others: string }> = {
  'double-struck': { upper: 0x1d538, lower: 0x1d552, others: 'CℂHℍNℕPℙQℚRℝZℤ' },
  script: { upper: 0x1d49c, lower: 0x1d4b6, others: 'BℬEℰFℱHℋIℐLℒMℳRℛeℯgℊoℴ' },
  fraktur: { upper: 0x1d504, lower: 0x1d51e, others: 'CℭHℌIℑRℜZℨ' },
}

/** Returns a text in the letters of a `mathvariant` that browsers do not draw themselves. */
export function toVariant(text: string, variant: string | null): string {
  const alphabet = alphabets[variant ?? '']
  if (!alphabet) return text
  return text.replace(/[A-Za-z]/g, letter => {
    const other = alphabet.others.indexOf(letter)
    if (other >= 0) return alphabet.others[other + 1] ?? letter
    const [first, base] = letter < 'a' ? ['A', alphabet.upper] : ['a', alphabet.lower]
    return String.fromCodePoint(base + letter.charCodeAt(0) - first.charCodeAt(0))
  })
}
