// Pictures of fixtures, or of pages by their paths, for people to look at: npx vite-node tests/e2e/picture.ts DIR [name ...]
import { mkdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from '@playwright/test';
import { CHROMIUM, CHROMIUM_ARGUMENTS } from './browser.ts';

const [folder, ...names] = process.argv.slice(2);
if (!folder) throw new Error('say where to write the pictures');
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGUMENTS });
for (const spec of names) {
  const [name, width = '1280', theme = 'light', part = '0.4'] = spec.split(':') as [string, ...string[]];
  const page = await browser.newPage({ viewport: { width: Number(width), height: Number(width) > 800 ? 860 : 800 }, colorScheme: theme as 'light' | 'dark', reducedMotion: 'reduce' });
  page.on('console', (m) => console.log(name, m.type(), m.text()));
  page.on('pageerror', (e) => console.log(name, 'error', e.message));
  await page.goto(pathToFileURL(name.startsWith('/') ? name : fileURLToPath(new URL(`../../fixtures/out/${name}.html`, import.meta.url))).href);
  await page.waitForSelector('html[data-ready]');
  await page.evaluate((p) => {
    const { clock } = (window as unknown as { hingePage: { clock: { start: number; end: number; set(t: number): void } } }).hingePage;
    clock.set(clock.start + p * (clock.end - clock.start));
  }, Number(part));
  await page.waitForTimeout(700);
  await page.screenshot({ path: `${folder}/${name.replace(/.*\//, '').replace(/\.html$/, '')}-${width}-${theme}.png`, fullPage: part.endsWith('0') });
  await page.close();
}
await browser.close();
