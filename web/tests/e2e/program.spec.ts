// Pages that the program itself has written, in the folder HINGE_REPORTS: scripts/test-page makes them.
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { inked, open, real, setTime, time } from './open_page.ts';

const folder = process.env.HINGE_REPORTS ?? '';
const pages = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.html')) : [];

test('the program has written pages', () => {
  test.skip(folder === '', 'HINGE_REPORTS names no folder');
  expect(pages.length).toBeGreaterThan(2);
});

for (const name of pages) {
  test(`${name}: plots are drawn, the scene moves, nothing complains`, async ({ page }) => {
    const trouble = await open(page, `${folder}/${name}`);
    await expect(page.locator('.verdict')).toHaveAttribute('data-standing', /sound|doubtful/);
    expect(await inked(page, '.plot-area canvas')).toBeGreaterThan(100);
    const canvas = page.locator('.canvas-box canvas');
    await setTime(page, 0.05);
    await page.waitForTimeout(200);
    const before = await canvas.screenshot();
    await setTime(page, 0.6);
    await page.waitForTimeout(200);
    expect(before.equals(await canvas.screenshot())).toBe(false);
    expect(real(trouble)).toEqual([]);
  });

  test(`${name}: the animation advances by itself`, async ({ page }) => {
    const trouble = await open(page, `${folder}/${name}`, 'no-preference');
    const first = await time(page);
    await expect.poll(() => time(page)).not.toBe(first);
    expect(real(trouble)).toEqual([]);
  });
}
