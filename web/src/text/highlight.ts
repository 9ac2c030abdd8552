// The words of a model file, for colours. Not a reader of TOML: what it does not know stays plain text.

export type TokenKind = 'comment' | 'section' | 'key' | 'string' | 'number' | 'word' | 'mark' | 'plain';
export interface Token {
  kind: TokenKind;
  text: string;
}

const NUMBER = /^[+-]?(?:0x[0-9a-fA-F_]+|inf|nan|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)(?![\w.])/;
const PLAIN_KEY = /^(?:[A-Za-z0-9_.-]|"[^"\n]*")+(?=\s*=)/;

/** One line; `open` is the quote of a text of several lines that began earlier, or empty. */
export function tokensOfLine(line: string, open: string): { tokens: Token[]; open: string } {
  const tokens: Token[] = [];
  const push = (kind: TokenKind, text: string): void => {
    const last = tokens[tokens.length - 1];
    if (last && last.kind === kind) last.text += text;
    else if (text !== '') tokens.push({ kind, text });
  };
  let rest = line;
  if (open !== '') {
    const end = rest.indexOf(open);
    if (end < 0) return { tokens: [{ kind: 'string', text: rest }], open };
    push('string', rest.slice(0, end + open.length));
    rest = rest.slice(end + open.length);
    open = '';
  } else if (/^\s*\[/.test(rest)) {
    const header = /^\s*\[\[?[^\]#"']*\]\]?(?=\s*(?:#|$))/.exec(rest);
    if (header) {
      push('section', header[0]);
      rest = rest.slice(header[0].length);
    }
  }
  while (rest !== '') {
    const c = rest[0]!;
    let match: RegExpExecArray | null;
    if (c === '#') {
      push('comment', rest);
      break;
    }
    if (rest.startsWith('"""') || rest.startsWith("'''")) {
      const quote = rest.slice(0, 3);
      const end = rest.indexOf(quote, 3);
      if (end < 0) {
        push('string', rest);
        return { tokens, open: quote };
      }
      push('string', rest.slice(0, end + 3));
      rest = rest.slice(end + 3);
    } else if ((match = PLAIN_KEY.exec(rest)) && !/[A-Za-z0-9_]$/.test(line.slice(0, line.length - rest.length))) {
      push('key', match[0]);
      rest = rest.slice(match[0].length);
    } else if ((match = /^"(?:\\.|[^"\\])*"?/.exec(rest)) || (match = /^'[^']*'?/.exec(rest))) {
      push('string', match[0]);
      rest = rest.slice(match[0].length);
    } else if ((match = /^(?:true|false)\b/.exec(rest))) {
      push('word', match[0]);
      rest = rest.slice(match[0].length);
    } else if ((match = NUMBER.exec(rest))) {
      push('number', match[0]);
      rest = rest.slice(match[0].length);
    } else if (/[[\]{}=,]/.test(c)) {
      push('mark', c);
      rest = rest.slice(1);
    } else {
      match = /^\w+|^[^\w]/.exec(rest)!;
      push('plain', match[0]);
      rest = rest.slice(match[0].length);
    }
  }
  return { tokens, open };
}

export function tokensOf(text: string): Token[][] {
  let open = '';
  return text.split('\n').map((line) => {
    const result = tokensOfLine(line, open);
    open = result.open;
    return result.tokens;
  });
}
