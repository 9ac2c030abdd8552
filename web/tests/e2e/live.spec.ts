// The page as `hinge view` serves it, with a program that is made up here.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { liveReply, LIVE_TOKEN } from '../../fixtures/live_run.ts';
import { watch, real } from './open_page.ts';

let server: Server;
let address = '';
let total = 20;
let loads = 0;
const posted: unknown[] = [];

test.beforeAll(async () => {
  const page = readFileSync(fileURLToPath(new URL('../../fixtures/out/live.html', import.meta.url)), 'utf8');
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const json = (status: number, body: unknown): void => void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/') {
      ++loads;
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page);
    } else if (url.pathname === '/api/rows') {
      if (url.searchParams.get('token') !== LIVE_TOKEN) return json(403, { error: 'wrong token' });
      total = Math.min(100, total + 10);
      json(200, liveReply(Number(url.searchParams.get('after')), total, total < 100));
    } else if (url.pathname === '/api/run') {
      if (request.headers['x-hinge-token'] !== LIVE_TOKEN) return json(403, { error: 'wrong token' });
      let body = '';
      request.on('data', (part) => (body += part));
      request.on('end', () => {
        const wanted = JSON.parse(body) as { parameters: Record<string, string> };
        posted.push(wanted);
        if (wanted.parameters.length === 'long') json(400, { error: "parameters.length: unknown name 'long'" });
        else json(202, { run: '2' });
      });
    } else json(404, { error: 'not here' });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
test.afterAll(() => void server.close());

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
