import { defineConfig } from 'vite';
import { oneFile } from './build/one_file.ts';

export default defineConfig({
  base: './',
  build: {
    target: 'es2022',
    outDir: 'dist',
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    minify: 'esbuild',
  },
  plugins: [oneFile()],
  test: { include: ['tests/unit/**/*.test.ts'], testTimeout: 30_000 },
} as Parameters<typeof defineConfig>[0]);
