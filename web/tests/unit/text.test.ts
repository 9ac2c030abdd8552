import { describe, expect, it } from 'vitest';
import { shortText, visibleText } from '../../src/text/visible.ts';
import { tokensOf } from '../../src/text/highlight.ts';
import { formatCount, formatNumber, formatTime, numberOf } from '../../src/data/numbers.ts';
import { HOSTILE } from '../../fixtures/long_and_hostile.ts';

describe('texts of others', () => {
  it('shows control characters and marks that reorder', () => {
    expect(visibleText('a\u0000b\u001b[31m')).toBe('a␀b␛[31m');
    expect(visibleText('x\u202Eexe\u2066')).toBe('x[U+202E]exe[U+2066]');
    expect(visibleText('a\nb\tc\r', true)).toBe('a\nb\tc');
    expect(visibleText('a\nb')).toBe('a␊b');
    expect(visibleText('\ud800')).toBe('\ufffd');
    expect(visibleText(HOSTILE)).not.toMatch(/[\u0000-\u001f\u202e\u2028]/);
  });
  it('keeps letters of all scripts', () => expect(visibleText('Größe שלום 速度 😀')).toBe('Größe שלום 速度 😀'));
  it('shortens by characters, not by halves of them', () => expect(shortText('😀😀😀😀', 3)).toBe('😀😀…'));
});

describe('highlighting', () => {
  const kinds = (line: string) => tokensOf(line)[0]!.filter((t) => t.kind !== 'plain').map((t) => [t.kind, t.text]);
  it('knows the words of a model', () => {
    expect(kinds('[lagrangian]')).toEqual([['section', '[lagrangian]']]);
    expect(kinds('step = 1e-3 # small')).toEqual([['key', 'step'], ['mark', '='], ['number', '1e-3'], ['comment', '# small']]);
    expect(kinds('a = { b = "x#y", c = true }')).toContainEqual(['string', '"x#y"']);
    expect(kinds('a = { b = "x#y", c = true }')).toContainEqual(['word', 'true']);
    expect(kinds('quantities.q1 = "m1/2"')[0]).toEqual(['key', 'quantities.q1']);
  });
  it('loses no character of any text', () => {
    for (const text of [HOSTILE, 'a = """\nlong # text\n""" # end\nb = \'\'\'x\'\'\'', '[[body]]\nname = "box{i}"', '"', '[', 'x = [1, 2,\n 3]', '= = =', "t''"])
      expect(tokensOf(text).map((line) => line.map((t) => t.text).join('')).join('\n')).toBe(text);
  });
  it('follows texts over lines', () => {
    const lines = tokensOf('a = """\n# no comment\n""" # comment');
    expect(lines[1]).toEqual([{ kind: 'string', text: '# no comment' }]);
    expect(lines[2]!.at(-1)!.kind).toBe('comment');
  });
});

describe('numbers', () => {
  it('are short and honest', () => {
    expect(formatNumber(0)).toBe('0');
    expect(formatNumber(5.551115e-16, 3)).toBe('5.55e−16');
    expect(formatNumber(-1234.5678)).toBe('−1234.57');
    expect(formatNumber(1e10, 3)).toBe('1e10');
    expect(formatNumber(NaN)).toBe('not a number');
    expect(formatNumber(-Infinity)).toBe('−infinite');
    expect(formatCount(1234567)).toBe('1\u202f234\u202f567');
    expect(formatTime(2.5, 20)).toBe('2.50');
    expect(formatTime(0.00025, 0.001)).toBe('0.000250');
  });
  it('come from JSON as text where JSON has none', () => {
    expect(numberOf('Infinity')).toBe(Infinity);
    expect(numberOf('-Infinity')).toBe(-Infinity);
    expect(numberOf('NaN')).toBeNaN();
    expect(numberOf(null)).toBeNaN();
    expect(numberOf(undefined)).toBeNaN();
  });
});
