// `hinge view` and `hinge movie` themselves: HINGE_PROGRAM is the built program (scripts/test-page sets it).
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { CHROMIUM } from './browser.ts';
import { real, watch } from './open_page.ts';

const program = process.env.HINGE_PROGRAM ?? '';
const model = (name: string): string => fileURLToPath(new URL(`../../../examples/${name}.toml`, import.meta.url));
test.skip(program === '', 'HINGE_PROGRAM names no program');

let served: ChildProcess | null = null;
async function view(...words: string[]): Promise<string> {
  const child = spawn(program, ['view', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  served = child;
  return new Promise((done) => {
    let said = '';
    child.stdout!.on('data', (piece) => {
      said += String(piece);
      if (said.includes('\n')) done(said.slice(0, said.indexOf('\n')));
    });
  });
}
test.afterEach(async () => {
  if (!served) return;
  const ended = new Promise((done) => served!.on('exit', done));
  served.kill('SIGINT');
  expect(await ended).toBe(0);
  served = null;
});

/** With a run that no machine ends meanwhile, and with one that has ended before the form is filled, or while it is. */
for (const steps of ['1e13', '1e3', '1e6', '5e6']) {
  test(`a run of ${steps} steps is followed, and another one is started from the page`, async ({ page }) => {
    test.setTimeout(180_000); // beside other work the run that is stopped has taken a quarter of a minute to answer
    const trouble = watch(page);
    await page.goto(await view(model('pendulum'), '--set', `integrate.end=${Number(steps) / 100}`, '--set', 'output.every=100'));
    if (steps === '1e13') {
      await expect(page.locator('.verdict h2')).toHaveText('Running');
      const first = await page.evaluate(() => window.hingePage.clock.end);
      await page.waitForFunction((t) => window.hingePage?.clock.end > t, first); // also over a reload
    }
    await page.getByLabel('length').fill('long');
    await page.getByRole('button', { name: 'Run again' }).click();
    await expect(page.locator('.form-message')).toContainText('long');
    await page.getByLabel('length').fill('2');
    await page.getByLabel('end', { exact: true }).fill('3');
    await page.getByLabel('method').selectOption('rattle');
    await page.getByRole('button', { name: 'Run again' }).click();
    await expect(page.locator('.verdict h2')).toHaveText('Sound', { timeout: 120_000 });
    await expect(page.locator('.verdict')).toContainText('rattle');
    await expect(page.locator('.verdict')).toContainText('parameters.length=2');
    await expect(page.locator('.verdict')).toContainText('t = 0 to 3 ');
    expect(real(trouble).filter((line) => !line.startsWith('request') && !line.includes('400'))).toEqual([]);
  });
}

test('a film has pictures that differ', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hinge-film-'));
  try {
    execFileSync(program, ['movie', model('pendulum'), '--out', folder, '--seconds', '1', '--rate', '3', '--size', '320x240'],
      { env: { ...process.env, HINGE_CHROMIUM: CHROMIUM } });
    const names = readdirSync(folder).sort();
    expect(names).toEqual(['000001.png', '000002.png', '000003.png']);
    const pictures = names.map((name) => readFileSync(join(folder, name)));
    expect(pictures[0]!.subarray(1, 4).toString()).toBe('PNG');
    expect(pictures[0]!.readUInt32BE(16)).toBe(320);
    expect(pictures[0]!.equals(pictures[1]!)).toBe(false);
    expect(pictures[1]!.equals(pictures[2]!)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
