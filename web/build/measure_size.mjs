// Prints the size of the page without data and fails where it is above the limit.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT = 250_000;
const page = readFileSync(new URL('../dist/index.html', import.meta.url));
const packed = gzipSync(page, { level: 9 }).length;
console.log(`page without data: ${page.length} bytes, ${packed} gzipped (limit ${LIMIT})`);
if (packed > LIMIT) process.exit(1);
