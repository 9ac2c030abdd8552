// Opens a fixture and watches it: any message on the console, any error and any request fails the test.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, type Page } from '@playwright/test';
import type { Clock } from '../../src/time/clock.ts';
import type { TimeRange } from '../../src/plot/time_range.ts';
import type { SceneView } from '../../src/scene/scene_view.ts';

declare global {
  interface Window {
    hingePage: { clock: Clock; range: TimeRange; view: SceneView | null };
    broken?: number;
  }
}

/** Of a fixture by its name, or of any page by its path. */
export const addressOf = (name: string): string =>
  pathToFileURL(name.startsWith('/') ? name : fileURLToPath(new URL(`../../fixtures/out/${name}.html`, import.meta.url))).href;

export function watch(page: Page): string[] {
  const trouble: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') trouble.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !request.url().includes('hinge.test')) trouble.push(`request: ${request.url()}`);
  });
  return trouble;
}

export async function open(page: Page, name: string, motion: 'reduce' | 'no-preference' = 'reduce'): Promise<string[]> {
  const trouble = watch(page);
  await page.emulateMedia({ reducedMotion: motion });
  await page.goto(addressOf(name));
  await expect(page.locator('html[data-ready=yes]')).toBeAttached({ timeout: 60_000 });
  return trouble;
}

/** Chromium says this about software rendering; it is no fault of the page. */
export const real = (trouble: string[]): string[] => trouble.filter((line) => !/GPU stall due to ReadPixels|Automatic fallback to software WebGL|GroupMarkerNotSet/.test(line));

/** How many pixels of a canvas differ from its first one; plots draw on transparent ground. */
export function inked(page: Page, selector: string): Promise<number> {
  return page.locator(selector).first().evaluate((canvas: HTMLCanvasElement) => {
    const copy = document.createElement('canvas');
    copy.width = canvas.width;
    copy.height = canvas.height;
    const context = copy.getContext('2d')!;
    context.drawImage(canvas, 0, 0);
    const data = context.getImageData(0, 0, copy.width, copy.height).data;
    let count = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i + 3]! > 40 && Math.max(data[i]!, data[i + 1]!, data[i + 2]!) - Math.min(data[i]!, data[i + 1]!, data[i + 2]!) > 60) ++count;
    return count;
  });
}

export const setTime = (page: Page, part: number): Promise<void> =>
  page.evaluate((p) => {
    const { clock } = window.hingePage;
    clock.pause();
    clock.set(clock.start + p * (clock.end - clock.start));
  }, part);
export const time = (page: Page): Promise<number> => page.evaluate(() => window.hingePage.clock.t);
export const drawn = (page: Page): Promise<number> => page.evaluate(() => window.hingePage.view!.framesDrawn);
