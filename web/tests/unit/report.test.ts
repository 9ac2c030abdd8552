import { describe, expect, it } from 'vitest';
import { PLACEHOLDER as BUILD_PLACEHOLDER } from '../../build/one_file.ts';
import { readReport } from '../../src/data/report.ts';
import { fillPage, jsonForPage, PLACEHOLDER } from '../../src/data/write_page.ts';
import { hostile, HOSTILE } from '../../fixtures/long_and_hostile.ts';
import { sliderCrank } from '../../fixtures/mechanisms.ts';
import type { ReportData } from '../../src/data/contract.ts';

const read = (data: ReportData, texts: string[]) => readReport(JSON.stringify(data), (i) => texts[i] ?? null);

describe('report', () => {
  it('reads back what was written', async () => {
    const { data, texts } = sliderCrank();
    const report = await read(data, texts);
    const table = report.tables[0]!;
    expect(table.time.length).toBe(1001);
    expect(table.columns.map((c) => c.name)).toContain('crank_rate');
    expect(table.columns[2]!.values[0]).toBeCloseTo(0.4, 12);
  });

  it('says what is wrong: version, JSON, missing blocks, wrong lengths', async () => {
    const { data, texts } = sliderCrank();
    await expect(readReport('{', () => '')).rejects.toThrow(/no JSON/);
    await expect(readReport('[]', () => '')).rejects.toThrow(/no data of a Hinge report/);
    await expect(read({ ...data, hinge: 99 }, texts)).rejects.toThrow(/version 99/);
    await expect(read(data, texts.slice(1, 2))).rejects.toThrow(/Block/);
    await expect(read({ ...data, tables: [{ ...data.tables[0]!, rows: 7 }] }, texts)).rejects.toThrow(/rows/);
    await expect(read({ ...data, tables: [{ ...data.tables[0]!, time: 4711 }] }, texts)).rejects.toThrow(/not there/);
  });

  it('keeps texts inside their element', async () => {
    const json = jsonForPage({ text: HOSTILE });
    expect(json).not.toContain('<');
    expect(JSON.parse(json)).toEqual({ text: HOSTILE });
    const { data, texts } = hostile();
    const page = fillPage(`<body>${PLACEHOLDER}</body>`, data, texts);
    expect(page.match(/<\/script>/g)!.length).toBe(texts.length + 1);
    expect(page.includes('<!--')).toBe(false);
    await expect(read(data, texts)).resolves.toBeTruthy();
  });

  it('has one placeholder, the same for build and writer', () => {
    expect(PLACEHOLDER).toBe(BUILD_PLACEHOLDER);
    expect(() => fillPage(`${PLACEHOLDER}${PLACEHOLDER}`, sliderCrank().data, [])).toThrow();
  });
});
