import { describe, expect, it } from 'vitest';
import { deflateSync } from 'node:zlib';
import { decodeBase64, decodeBlock, encodeBase64 } from '../../src/data/blocks.ts';
import { BlockList } from '../../src/data/write_page.ts';
import type { BlockType } from '../../src/data/contract.ts';

describe('blocks', () => {
  it('decodes base64 as Node encodes it, at every length', () => {
    for (let n = 0; n < 70; ++n) {
      const bytes = Uint8Array.from({ length: n }, (_, i) => (i * 37 + n) & 255);
      const text = Buffer.from(bytes).toString('base64');
      expect(Array.from(decodeBase64(text))).toEqual(Array.from(bytes));
      expect(encodeBase64(bytes)).toBe(text);
    }
  });

  it('skips white space and refuses what is not base64', () => {
    expect(Array.from(decodeBase64(' AQ\nID\t'))).toEqual([1, 2, 3]);
    expect(() => decodeBase64('AQ!D')).toThrow(/not base64/);
    expect(() => decodeBase64('AQé')).toThrow(/not base64/);
  });

  it('gives back every type, little-endian', async () => {
    const cases: [BlockType, number[]][] = [
      ['float64', [0, -1.5, 1e300, NaN, Infinity, 5e-324]], ['float32', [0.5, -2, Infinity]], ['uint32', [0, 4294967295]],
      ['int32', [-1, 2147483647]], ['uint16', [0, 65535, 258]], ['int16', [-32768, 32767]],
    ];
    for (const [type, values] of cases) {
      const list = new BlockList();
      list.add(type, values);
      expect(Array.from(await decodeBlock(list.infos[0]!, list.texts[0]!))).toEqual(values);
    }
    expect(Array.from(await decodeBlock({ type: 'uint16', count: 1 }, 'AgE='))).toEqual([258]);
  });

  it('inflates', async () => {
    const text = deflateSync(Buffer.from(Float64Array.of(1, 2, 3).buffer)).toString('base64');
    expect(Array.from(await decodeBlock({ type: 'float64', count: 3, encoding: 'deflate-base64' }, text))).toEqual([1, 2, 3]);
  });

  it('refuses blocks of another length, type or encoding', async () => {
    await expect(decodeBlock({ type: 'uint16', count: 2 }, 'AgE=')).rejects.toThrow(/1 numbers where 2/);
    await expect(decodeBlock({ type: 'float64', count: 1 }, 'AgE=')).rejects.toThrow(/no whole number/);
    await expect(decodeBlock({ type: 'complex' as BlockType, count: 1 }, '')).rejects.toThrow(/unknown type/);
    await expect(decodeBlock({ type: 'uint16', count: 1, encoding: 'hex' as 'base64' }, 'AgE=')).rejects.toThrow(/unknown encoding/);
  });
});
