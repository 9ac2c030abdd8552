import { defineConfig } from '@playwright/test';
import { CHROMIUM, CHROMIUM_ARGUMENTS } from './tests/e2e/browser.ts';

export default defineConfig({
  testDir: 'tests/e2e',
  testMatch: '*.spec.ts',
  globalSetup: './tests/e2e/write_pages.ts',
  workers: 1,
  timeout: 240_000, // rendering in software on a busy machine
  expect: { timeout: 40_000 },
  reporter: [['list']],
  outputDir: 'test-results',
  use: { viewport: { width: 1280, height: 800 }, launchOptions: { executablePath: CHROMIUM, args: CHROMIUM_ARGUMENTS } },
});
