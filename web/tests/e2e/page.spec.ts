import { expect, test } from '@playwright/test';
import { drawn, inked, open, real, setTime, time } from './open_page.ts';

const MOVING = ['double-pendulum', 'slider-crank', 'four-bar', 'box-stack', 'disk-pile', 'spheres', 'all-shapes'];

for (const name of MOVING)
  test(`${name}: plots are drawn, the scene moves, nothing complains`, async ({ page }) => {
    const trouble = await open(page, name);
    expect(await inked(page, '.plot-area canvas')).toBeGreaterThan(150);
    const canvas = page.locator('.canvas-box canvas');
    await setTime(page, 0.1);
    const before = await canvas.screenshot();
    await setTime(page, 0.6);
    const frames = await drawn(page);
    await expect.poll(() => drawn(page)).toBeGreaterThanOrEqual(frames);
    const after = await canvas.screenshot();
    expect(before.equals(after)).toBe(false);
    expect(real(trouble)).toEqual([]);
  });

test('the verdict comes first', async ({ page }) => {
  await open(page, 'double-pendulum');
  const verdict = page.locator('.verdict');
  await expect(verdict).toHaveAttribute('data-standing', 'sound');
  await expect(verdict.locator('h2')).toHaveText('Sound');
  const verdictBox = (await verdict.boundingBox())!;
  const plotBox = (await page.locator('.plot-panel').boundingBox())!;
  expect(verdictBox.y).toBeLessThan(plotBox.y);
});

test('doubts have a number and a remedy each, then warnings', async ({ page }) => {
  await open(page, 'doubtful');
  await expect(page.locator('.verdict h2')).toHaveText('Doubtful');
  const doubts = page.locator('.doubt');
  await expect(doubts).toHaveCount(3);
  await expect(doubts.first()).toContainText('energy was created');
  await expect(doubts.first()).toContainText('5.86');
  await expect(doubts.first()).toContainText('take shorter steps');
  await expect(page.locator('.warnings li')).toHaveCount(2);
});

test('animation plays by itself, pauses, and loops', async ({ page }) => {
  const trouble = await open(page, 'slider-crank', 'no-preference');
  const first = await time(page);
  await expect.poll(() => time(page)).not.toBe(first);
  await page.getByRole('button', { name: 'Pause' }).click();
  const paused = await time(page);
  await page.waitForTimeout(300);
  expect(await time(page)).toBe(paused);
  await page.getByRole('combobox', { name: 'Speed' }).selectOption({ label: '×1 true' });
  await page.evaluate(() => window.hingePage.clock.set(0.97));
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(() => time(page)).toBeLessThan(0.9);
  expect(real(trouble)).toEqual([]);
});

test('reduced motion: nothing moves until asked', async ({ page }) => {
  await open(page, 'slider-crank', 'reduce');
  await page.waitForTimeout(400);
  expect(await time(page)).toBe(0);
});

test('one time for scene and plots', async ({ page }) => {
  await open(page, 'double-pendulum');
  const over = page.locator('.plot-card .u-over').first();
  const box = (await over.boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.75, box.y + box.height / 2);
  expect(await time(page)).toBeCloseTo(15, 0);
  await expect(page.locator('output.time')).toContainText(/1[45]\./);
  for (const line of await page.locator('.time-line').all()) {
    const at = (await line.boundingBox())!;
    expect(Math.abs(at.x - (box.x + box.width * 0.75))).toBeLessThan(3);
  }
  await page.locator('.scrub').fill('2500');
  expect(await time(page)).toBeCloseTo(5, 3);
  const moved = (await page.locator('.time-line').first().boundingBox())!;
  expect(Math.abs(moved.x - (box.x + box.width * 0.25))).toBeLessThan(3);
});

test('the last number below a plot is not cut off, wherever the plot ends', async ({ page }) => {
  await open(page, 'double-pendulum');
  let seed = 17;
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const cut = (): Promise<number> =>
    page.locator('.plot-area canvas').first().evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(canvas.width - 1, 0, 1, canvas.height);
      return data.filter((x, i) => i % 4 === 3 && x > 0).length; // pixels that are not empty in the last column
    });
  for (let k = 0; k < 12; ++k) {
    const middle = 1 + 18 * random();
    const half = 10 ** -(1 + 6 * random());
    await page.evaluate(([from, to]) => window.hingePage.range.set(from!, to!), [middle - half, middle + half]);
    await page.waitForTimeout(60);
    expect(await cut(), `${middle} +- ${half}`).toBe(0);
  }
});

test('hover shows the values of the recorded row', async ({ page }) => {
  await open(page, 'double-pendulum');
  const card = page.locator('.plot-card').first();
  await expect(card.locator('.value').first()).toHaveText('1');
  const box = (await card.locator('.u-over').boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
  await expect(card.locator('.value').first()).not.toHaveText('1');
  await expect(card).toHaveClass(/hovered/);
});

test('drag zooms all plots, shift-drag pans, double click shows the whole run', async ({ page }) => {
  await open(page, 'double-pendulum');
  const box = (await page.locator('.plot-card .u-over').first().boundingBox())!;
  const y = box.y + box.height / 2;
  const range = () => page.evaluate(() => [window.hingePage.range.from, window.hingePage.range.to] as [number, number]);
  await page.mouse.move(box.x + box.width * 0.25, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, y, { steps: 5 });
  await page.mouse.up();
  const [from, to] = await range();
  expect(from).toBeCloseTo(5, 0);
  expect(to).toBeCloseTo(10, 0);
  expect(await time(page)).toBe(0);
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + box.width * 0.5, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.25, y, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  expect((await range())[0]).toBeGreaterThan(from + 1);
  await page.mouse.dblclick(box.x + box.width * 0.5, y);
  expect(await range()).toEqual([0, 20]);
});

test('lines and layers switch on and off', async ({ page }) => {
  await open(page, 'double-pendulum');
  const card = page.locator('.plot-card').first();
  const before = await inked(page, '.plot-area canvas');
  await card.locator('.legend-item').first().click();
  await expect(card.locator('.legend-item').first()).toHaveAttribute('aria-pressed', 'false');
  expect(await inked(page, '.plot-area canvas')).toBeLessThan(before * 0.85);
  await setTime(page, 0.5);
  const canvas = page.locator('.canvas-box canvas');
  await page.waitForTimeout(200);
  const withTrails = await canvas.screenshot();
  await page.locator('[data-layer=trails]').click();
  await page.waitForTimeout(200);
  expect((await canvas.screenshot()).equals(withTrails)).toBe(false);
  const closed = page.locator('.plot-card.closed .fold').first();
  await closed.click();
  await expect(page.locator('.plot-card.closed')).not.toHaveCount(0);
});

test('the keyboard is enough', async ({ page }) => {
  const trouble = await open(page, 'double-pendulum');
  await page.keyboard.press('ArrowRight');
  expect(await time(page)).toBeCloseTo(0.01, 9);
  await page.keyboard.press('End');
  expect(await time(page)).toBeCloseTo(20, 9);
  await page.keyboard.press('ArrowLeft');
  expect(await time(page)).toBeCloseTo(19.99, 9);
  await page.keyboard.press('Home');
  expect(await time(page)).toBe(0);
  await page.keyboard.press('Space');
  await expect.poll(() => time(page)).toBeGreaterThan(0);
  await page.keyboard.press('Space');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
  expect(outline).toBe('solid');
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, select, input')].filter((e) => !(e.getAttribute('aria-label') || e.textContent?.trim() || e.closest('label'))).length);
  expect(unnamed).toBe(0);
  expect(real(trouble)).toEqual([]);
});

test('the camera follows, and 2D models are flat', async ({ page }) => {
  await open(page, 'double-pendulum');
  await page.getByRole('combobox', { name: 'Follow' }).selectOption({ label: 'follow q2' });
  const target = () => page.evaluate(() => window.hingePage.view!.stage.controls.target.toArray());
  const before = await target();
  await setTime(page, 0.5);
  expect(await target()).not.toEqual(before);
  await open(page, 'slider-crank');
  expect(await page.evaluate(() => [window.hingePage.view!.stage.flat, window.hingePage.view!.stage.camera.type])).toEqual([true, 'OrthographicCamera']);
});

test('a million samples: opens, and the spike is seen', async ({ page }) => {
  const trouble = await open(page, 'million');
  const top = await page.evaluate(() => {
    const plots = (window.hingePage as unknown as { plots: { cards: { plot: { data: (number | null)[][] } | null }[] } }).plots;
    return Math.max(...(plots.cards[0]!.plot!.data[1] as number[]));
  });
  expect(top).toBe(7.5);
  await expect(page.locator('.plot-note').first()).toContainText('1\u202f000\u202f000 samples');
  const started = Date.now();
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  console.log(`million samples: two zooms of all plots took ${Date.now() - started} ms`);
  expect(real(trouble)).toEqual([]);
});

test('axes have numbers, whatever their size; plots take the place of a picture that is missing', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const trouble = await open(page, 'odd-numbers');
  const axes = await page.evaluate(() => {
    const { plots } = window.hingePage as unknown as { plots: { cards: { group: { title: string }; plot: { axes: { _values: string[] }[] } | null }[] } };
    return plots.cards.filter((card) => card.plot).map((card) => [card.group.title, ...card.plot!.axes.map((axis) => axis._values)] as [string, string[], string[]]);
  });
  expect(axes.length).toBe(4);
  for (const [title, x, y] of axes)
    for (const labels of [x, y]) {
      expect(labels.length, title).toBeGreaterThan(2);
      expect(new Set(labels).size, `${title}: ${labels}`).toBe(labels.length);
    }
  await expect(page.locator('.axis-base:visible')).toHaveText(['57.52503 +']);
  await expect(page.locator('.speed')).not.toHaveValue('');
  expect((await page.locator('.plot-area').first().boundingBox())!.width).toBeGreaterThan(1100);
  await page.setViewportSize({ width: 400, height: 800 });
  const cost = page.locator('.cost td.number');
  expect((await cost.boundingBox())!.height).toBeLessThan(30); // one line
  expect(real(trouble)).toEqual([]);
});

test('hostile texts are inert', async ({ page }) => {
  const trouble = await open(page, 'hostile');
  expect(await page.evaluate(() => window.broken)).toBeUndefined();
  await expect(page.locator('#page img')).toHaveCount(0);
  await expect(page.locator('h1')).toContainText('</script><script>');
  await expect(page.locator('h1')).toContainText('[U+202E]');
  expect(await page.title()).toContain('␀');
  expect(real(trouble)).toEqual([]);
});

test('pages without data or with bad data say so', async ({ page }) => {
  const { readFileSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
  const template = readFileSync(process.env.HINGE_PAGE ?? fileURLToPath(new URL('../../dist/index.html', import.meta.url)), 'utf8');
  await page.setContent(template);
  await expect(page.locator('.plain')).toContainText('no data');
  await page.setContent(template.replace('<!--HINGE-REPORT-DATA-->', '<script type="application/json" id="hinge-data">{"hinge":2}</script>'));
  await expect(page.locator('.plain')).toContainText('version 2');
});
