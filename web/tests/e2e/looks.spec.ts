// Widths and themes: nothing overflows, texts can be read, pictures are kept for people to look at.
import { expect, test } from '@playwright/test';
import { inked, open, real, setTime } from './open_page.ts';

for (const width of [1280, 400])
  for (const theme of ['light', 'dark'] as const)
    for (const name of ['double-pendulum', 'doubtful', 'disk-pile', 'hostile'])
      test(`${name} at ${width} pixels, ${theme}`, async ({ page }, info) => {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: theme });
        const trouble = await open(page, name);
        await setTime(page, 0.7);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
        const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        expect(ground).toBe(theme === 'dark' ? 'rgb(18, 21, 24)' : 'rgb(246, 246, 243)');
        const small = await page.evaluate(() => [...document.querySelectorAll('button, select, td, th, p, li')].filter((e) => parseFloat(getComputedStyle(e).fontSize) < 11).length);
        expect(small).toBe(0);
        expect(await inked(page, '.plot-area canvas')).toBeGreaterThan(20);
        await page.waitForTimeout(200);
        await page.screenshot({ path: info.outputPath(`${name}-${width}-${theme}.png`), fullPage: true });
        expect(real(trouble)).toEqual([]);
      });

test('the theme can be chosen', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await open(page, 'slider-crank');
  await page.getByRole('button', { name: 'Light or dark' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.keyboard.press('t');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
});
