// Frames per second with 10,000 spheres at 1280 x 720, rendered in software. Measured and printed; it fails only where the
// picture stands still, because the number is that of the machine.
import { expect, test } from '@playwright/test';
import { open } from './open_page.ts';

test('10,000 spheres at 1280 x 720', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await open(page, 'spheres');
  const result = await page.evaluate(async () => {
    const { view, clock } = window.hingePage;
    const stage = view!.stage;
    stage.resize(1280, 720);
    clock.setSpeed(0.3);
    clock.play();
    const context = stage.renderer.getContext();
    const pixel = new Uint8Array(4);
    await new Promise((done) => setTimeout(done, 500));
    const frames = view!.framesDrawn;
    const begin = performance.now();
    while (performance.now() - begin < 5000) await new Promise(requestAnimationFrame);
    const shown = (view!.framesDrawn - frames) / ((performance.now() - begin) / 1000);
    // the same without waiting for the screen: each frame is finished before the next begins
    clock.pause();
    let count = 0;
    const start = performance.now();
    while (performance.now() - start < 5000) {
      clock.set(clock.start + ((count * 0.01) % 1.8));
      view!.draw();
      context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, pixel);
      ++count;
    }
    const size = [stage.renderer.domElement.width, stage.renderer.domElement.height];
    return { shown, alone: count / ((performance.now() - start) / 1000), size };
  });
  console.log(`10,000 spheres, ${result.size.join(' x ')}, software rendering: ${result.shown.toFixed(1)} frames per second shown, ${result.alone.toFixed(1)} drawn one after the other`);
  expect(result.size).toEqual([1280, 720]);
  expect(result.alone).toBeGreaterThan(1);
});
