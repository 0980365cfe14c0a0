// Written by `manage.py export_schema`.

/** The names of public agents as tools. */
export const agentToolName = /^agent_[0-9a-f]{32}$/

/** Patterns of mentions, explained in `chats/mentions.py`. */
export const mentionPatterns = {
  spaced: '0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff',
  beginning:
    '(?<![0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff@\uff20/])(?<![0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff@\uff20/]_)(?<![0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff@\uff20/]__)(?<![0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff@\uff20/]___)[@\uff20]',
  ending:
    '(?![_-]*[0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff])(?![./][0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff])(?![@\uff20][0-9A-Za-z-]+\\.[0-9A-Za-z])',
  mention:
    '(?<![0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff@\uff20/])(?<![0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff@\uff20/]_)(?<![0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff@\uff20/]__)(?<![0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff@\uff20/]___)[@\uff20]([0-9A-Za-z](?:[0-9A-Za-z_-]{0,38}[0-9A-Za-z])?)(?![_-]*[0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff])(?![./][0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff])(?![@\uff20][0-9A-Za-z-]+\\.[0-9A-Za-z])',
  codeAndAddresses:
    '(?<![^\\n])(?:[ \\t]*(?:>|[-+*]|[0-9]{1,9}[.)]))*[ \\t]*(~{3,}|`{3,}(?=[^`\\n]*(?![^\\n])))[^\\n]*(?:\\n(?![ \\t>]*\\1[`~]*[ \\t\\r]*(?![^\\n]))[^\\n]*)*(?:\\n[^\\n]*)?|(`{1,9})(?!`)(?:[^`\\n]+(?=[`\\n])|\\n(?![ \\t\\r]*\\n)|(?!\\2(?!`))`+(?!`))*\\2(?!`)|\\\\[\\\\`]|`+|(?:https?://|ftp://|www\\.)[!-&*-;=?-~]+',
  indentedCode: '(?:(?<![\\s\\S])|(?<=\\n\\n))(?: {4}|\\t)[^\\n]*(?:\\n(?: {4}|\\t)[^\\n]*)*',
  listItem: '(?<![^\\n]) {0,3}(?:[-+*]|[0-9]{1,9}[.)])[ \\t]',
}
