// Before the tests: every fixture as a page. The page itself must have been built.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FIXTURES } from '../../fixtures/catalogue.ts';
import { fillPage } from '../../src/data/write_page.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default function writePages(): void {
  const built = process.env.HINGE_PAGE ?? here('../../dist/index.html');
  if (!existsSync(built)) throw new Error(`${built} is not there: npm run build makes it`);
  const template = readFileSync(built, 'utf8');
  mkdirSync(here('../../fixtures/out'), { recursive: true });
  for (const [name, make] of Object.entries(FIXTURES)) {
    const { data, texts } = make();
    writeFileSync(here(`../../fixtures/out/${name}.html`), fillPage(template, data, texts));
  }
}
