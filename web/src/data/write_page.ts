// The other direction, as the program does it: metadata and blocks into the place that the page keeps for them.
// Fixtures and tests use it; it is not part of the page.
import type { BlockInfo, BlockType, ReportData } from './contract.ts';
import { encodeBase64, type NumberArray } from './blocks.ts';

export const PLACEHOLDER = '<!--HINGE-REPORT-DATA-->';

export class BlockList {
  readonly infos: BlockInfo[] = [];
  readonly texts: string[] = [];

  add(type: BlockType, values: ArrayLike<number>): number {
    const array: NumberArray = {
      float64: () => Float64Array.from(values),
      float32: () => Float32Array.from(values),
      uint32: () => Uint32Array.from(values),
      int32: () => Int32Array.from(values),
      uint16: () => Uint16Array.from(values),
      int16: () => Int16Array.from(values),
    }[type]();
    this.infos.push({ type, count: array.length });
    this.texts.push(encodeBase64(new Uint8Array(array.buffer, array.byteOffset, array.byteLength)));
    return this.infos.length - 1;
  }
}

/** Every `<` is written as `\u003c`: neither `</script` nor `<!--` can then occur in the element. */
export const jsonForPage = (data: unknown): string => JSON.stringify(data).replace(/</g, '\\u003c');

export function fillPage(template: string, data: ReportData, texts: string[]): string {
  const parts = template.split(PLACEHOLDER);
  if (parts.length !== 2) throw new Error('the placeholder must be there exactly once');
  const scripts = texts.map((text, i) => `<script type="application/octet-stream" id="hinge-block-${i}">${text}</script>`);
  const json = `<script type="application/json" id="hinge-data">${jsonForPage(data)}</script>`;
  return [parts[0], json, '\n', scripts.join('\n'), parts[1]].join('');
}
