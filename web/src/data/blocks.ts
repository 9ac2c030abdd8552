// Base64 blocks of the page to typed arrays. All blocks are little-endian.
import type { BlockInfo, BlockType } from './contract.ts';

export type NumberArray = Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Int16Array;

const WIDTH: Record<BlockType, number> = { float64: 8, float32: 4, uint32: 4, int32: 4, uint16: 2, int16: 2 };
const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

const CODE = new Uint8Array(128).fill(255);
for (let i = 0; i < 64; ++i)
  CODE['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.charCodeAt(i)] = i;

/** Bytes of a base64 text; white space is skipped, anything else that is not base64 is an error. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let length = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < text.length; ++i) {
    const c = text.charCodeAt(i);
    if (c === 61 || c === 10 || c === 13 || c === 32 || c === 9) continue; // '=' and white space
    const value = c < 128 ? CODE[c]! : 255;
    if (value === 255) throw new Error(`not base64: character ${c} at place ${i}`);
    bits = (bits << 6) | value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out[length++] = (bits >> held) & 255;
    }
  }
  return out.slice(0, length);
}

export function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += 0x6000)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(i, i + 0x6000))));
  return parts.join('');
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers from bytes; the buffer is used as it is where the machine is little-endian, as nearly all are. */
export function numbersOf(bytes: Uint8Array<ArrayBuffer>, type: BlockType): NumberArray {
  const width = WIDTH[type];
  if (bytes.length % width !== 0) throw new Error(`${bytes.length} bytes are no whole number of ${type}`);
  if (!littleEndian)
    for (let i = 0; i < bytes.length; i += width) bytes.subarray(i, i + width).reverse();
  const n = bytes.length / width;
  switch (type) {
    case 'float64': return new Float64Array(bytes.buffer, 0, n);
    case 'float32': return new Float32Array(bytes.buffer, 0, n);
    case 'uint32': return new Uint32Array(bytes.buffer, 0, n);
    case 'int32': return new Int32Array(bytes.buffer, 0, n);
    case 'uint16': return new Uint16Array(bytes.buffer, 0, n);
    case 'int16': return new Int16Array(bytes.buffer, 0, n);
  }
}

export async function decodeBlock(info: BlockInfo, text: string): Promise<NumberArray> {
  if (!(info.type in WIDTH)) throw new Error(`unknown type of block '${String(info.type)}'`);
  let bytes = decodeBase64(text);
  if (info.encoding === 'deflate-base64') bytes = await inflate(bytes);
  else if (info.encoding !== undefined && info.encoding !== 'base64') throw new Error(`unknown encoding '${String(info.encoding)}'`);
  const numbers = numbersOf(bytes, info.type);
  if (numbers.length !== info.count) throw new Error(`a block has ${numbers.length} numbers where ${info.count} are declared`);
  return numbers;
}
