// Texts come from model files that anybody may have written. They only ever become text nodes; here characters that
// would hide or reorder what a reader sees are made visible.

const isReordering = (code: number): boolean =>
  (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code === 0x200e || code === 0x200f || code === 0x061c;

/** Control characters as their pictures, marks that reorder text as their code; line ends and tabs stay if `lines`. */
export function visibleText(text: string, lines = false): string {
  let out = '';
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (lines && (code === 10 || code === 9)) out += character;
    else if (lines && code === 13) continue;
    else if (code < 0x20) out += String.fromCharCode(0x2400 + code);
    else if (code === 0x7f) out += '\u2421';
    else if (code >= 0x80 && code < 0xa0) out += '\ufffd';
    else if (code >= 0xd800 && code < 0xe000) out += '\ufffd'; // half of a pair
    else if (isReordering(code) || code === 0xfeff || code === 0x2028 || code === 0x2029)
      out += `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
    else out += character;
  }
  return out;
}

/** For places with little room: at most `length` characters. */
export function shortText(text: string, length: number): string {
  const shown = [...visibleText(text)];
  return shown.length <= length ? shown.join('') : `${shown.slice(0, length - 1).join('')}…`;
}
