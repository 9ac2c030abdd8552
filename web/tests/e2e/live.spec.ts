// The page as `hinge view` serves it, with a program that is made up here.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { liveReply, LIVE_TOKEN } from '../../fixtures/live_run.ts';
import { watch, real } from './open_page.ts';

let server: Server;
let address = '';
let total = 20;
/** Rows that come between two questions; 0: none, and the run goes on. */
let growth = 10;
let loads = 0;
/** As `hinge view` names it: another name, and the page loads itself anew. */
let run = '1';
/** The program takes so long, in milliseconds, to answer these. */
const slow = { page: 0, again: 0 };
const posted: unknown[] = [];

test.beforeAll(async () => {
  const page = readFileSync(fileURLToPath(new URL('../../fixtures/out/live.html', import.meta.url)), 'utf8');
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const json = (status: number, body: unknown): void => void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/') {
      ++loads;
      const now = page.replace('"run":"1"', `"run":"${run}"`);
      setTimeout(() => response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(now), slow.page);
    } else if (url.pathname === '/api/rows') {
      if (url.searchParams.get('token') !== LIVE_TOKEN) return json(403, { error: 'wrong token' });
      total = Math.min(100, total + growth);
      json(200, { ...liveReply(Number(url.searchParams.get('after')), total, total < 100), run });
    } else if (url.pathname === '/api/run') {
      if (request.headers['x-hinge-token'] !== LIVE_TOKEN) return json(403, { error: 'wrong token' });
      let body = '';
      request.on('data', (part) => (body += part));
      request.on('end', () => {
        const wanted = JSON.parse(body) as { parameters: Record<string, string> };
        posted.push(wanted);
        setTimeout(() => {
          if (wanted.parameters.length === 'long') return json(400, { error: "parameters.length: unknown name 'long'" });
          run = `${run}1`;
          json(202, { run });
        }, slow.again);
      });
    } else json(404, { error: 'not here' });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
test.afterAll(() => void server.close());
test.beforeEach(() => {
  total = 20;
  growth = 10;
  slow.page = slow.again = 0;
});
/** Another part of the same run: the page loads itself anew. */
async function reloaded(page: Page): Promise<void> {
  const before = loads;
  run = `${run}.`;
  await expect.poll(() => loads).toBe(before + 1);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes' && window.hingePage.clock.end > 0);
}

test('follows a run, takes over its verdict, and runs again', async ({ page }) => {
  const trouble = watch(page);
  await page.goto(address);
  await expect(page.locator('.verdict h2')).toHaveText('Running');
  await expect(page.locator('.verdict h2')).toHaveText('Sound', { timeout: 120_000 });
  expect(await page.evaluate(() => window.hingePage.clock.end)).toBeCloseTo(99 * 0.05, 6);
  await page.getByLabel('length').fill('long');
  await page.getByRole('button', { name: 'Run again' }).click();
  await expect(page.locator('.form-message')).toContainText("unknown name 'long'");
  await page.getByLabel('length').fill('2');
  await page.getByLabel('method').selectOption('gauss-lobatto');
  await page.getByLabel('stages').fill('3');
  const before = loads;
  await page.getByRole('button', { name: 'Run again' }).click();
  await expect.poll(() => loads).toBe(before + 1);
  expect(posted.at(-1)).toEqual({ parameters: { length: '2' }, method: 'gauss-lobatto', options: { stages: '3' } });
  expect(real(trouble).filter((line) => !line.startsWith('request') && !line.includes('400'))).toEqual([]);
});

/** What the reader has set, as far as it can be seen or asked for. */
const settings = (page: Page): Promise<unknown> =>
  page.evaluate(() => {
    const { clock, range, view } = window.hingePage;
    const { position, target, height } = view!.stage.place();
    const round = (numbers: number[]): string[] => numbers.map((x) => x.toFixed(6));
    const focused = document.activeElement instanceof HTMLInputElement ? document.activeElement : null;
    return {
      fields: [...document.querySelectorAll<HTMLInputElement | HTMLSelectElement>('.run-form input, .run-form select')].map((field) => field.value),
      pressed: [...document.querySelectorAll('button[aria-pressed], button[aria-expanded]')].map((button) => `${button.getAttribute('aria-pressed')} ${button.getAttribute('aria-expanded')}`),
      chosen: [...document.querySelectorAll('select')].map((select) => select.value),
      focus: [focused?.closest('label')?.textContent, focused?.selectionStart, focused?.selectionEnd],
      t: clock.t.toFixed(6), playing: clock.playing, range: range.whole ? 'whole' : round([range.from, range.to]),
      camera: view!.stage.moved ? round([...position, ...target, height]) : 'as it came', theme: document.documentElement.dataset.theme, scroll: window.scrollY,
    };
  });

test('what the reader has set survives that the page is loaded anew', async ({ page }) => {
  let seed = 20261119;
  const chance = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const one = <T>(list: T[]): T => list[Math.floor(chance() * list.length)]!;
  growth = 0;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(address);
  const field = (name: string): Locator => page.locator('.run-form').getByLabel(new RegExp(`^${name}`)); // a unit follows
  const seen = async (button: Locator): Promise<unknown> => (await button.isVisible()) && button.click(); // a plot may be folded
  const acts: (() => Promise<unknown>)[] = [
    () => field(one(['length', 'gravity', 'step', 'end'])).fill(String(Math.ceil(99 * chance()))),
    () => field('method').selectOption(one(['rattle', 'gauss-lobatto'])),
    async () => (await field('stages').isVisible()) && field('stages').fill(one(['1', '3', '4'])),
    () => seen(page.locator('.legend-item').nth(Math.floor(2 * chance()))),
    () => seen(page.getByRole('button', { name: 'log', exact: true }).first()),
    () => page.locator('.fold').first().click(),
    () => page.locator('[data-layer]').first().click(),
    () => page.getByRole('button', { name: 'Loop (L)' }).click(),
    () => page.getByRole('button', { name: 'Light or dark (T)' }).click(),
    () => page.getByRole('combobox', { name: 'Speed' }).selectOption({ index: Math.floor(3 * chance()) }),
    () => page.evaluate((part) => window.hingePage.clock.set(part * window.hingePage.clock.end), chance()),
    () => page.evaluate(([from, to]) => window.hingePage.range.set(from!, to!), [0.1 + 0.3 * chance(), 0.5 + 0.2 * chance()]),
    async () => {
      const box = (await page.locator('.canvas-box canvas').boundingBox())!;
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.wheel(0, one([-300, 200]));
    },
  ];
  for (let round = 0; round < 6; ++round) {
    for (let k = 0; k < 5; ++k) await one(acts)();
    const typed = field(one(['length', 'gravity']));
    await typed.focus();
    await typed.evaluate((input: HTMLInputElement) => input.setSelectionRange(1, 1));
    const before = await settings(page);
    await reloaded(page);
    // once the picture has its size
    await expect(async () => expect(await settings(page), `round ${round}`).toEqual(before)).toPass({ timeout: 10_000 });
  }
});

test('what is typed while the page is about to be loaded anew is not lost, and is sent once', async ({ page }) => {
  await page.goto(address);
  const sent = posted.length;
  slow.page = 700; // the page that was there stays until the next one comes
  const before = loads;
  run = `${run}.`;
  await expect.poll(() => loads).toBe(before + 1);
  await page.getByLabel('length').fill('4');
  await page.getByRole('button', { name: 'Run again' }).click();
  await expect.poll(() => posted.length).toBe(sent + 1);
  expect(posted.at(-1)).toEqual({ parameters: { length: '4' }, method: 'rattle', options: {} });
  await expect.poll(() => loads).toBe(before + 2);
  await expect(page.getByLabel('length')).toHaveValue('1'); // of the run that goes on: the made-up program sends the same page
  expect(posted.length).toBe(sent + 1);
});

test('the page waits for the answer to "Run again" before it is loaded anew', async ({ page }) => {
  await page.goto(address);
  const before = loads;
  const sent = posted.length;
  slow.again = 800;
  await page.getByLabel('length').fill('long');
  await page.getByRole('button', { name: 'Run again' }).click();
  await expect.poll(() => posted.length).toBe(sent + 1);
  run = `${run}.`; // it ends while it is asked for another one
  await expect.poll(() => loads).toBe(before + 1);
  await expect(page.locator('.form-message')).toContainText("unknown name 'long'");
  await expect(page.getByLabel('length')).toHaveValue('long');
  expect(posted.length).toBe(sent + 1);
});
