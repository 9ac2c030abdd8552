// The report of the page: its metadata with all blocks decoded.
import { CONTRACT_VERSION, type ColumnInfo, type ReportData, type TableInfo } from './contract.ts';
import { decodeBlock, type NumberArray } from './blocks.ts';

export interface Column extends ColumnInfo {
  values: NumberArray;
}
export interface Table {
  info: TableInfo;
  time: NumberArray;
  columns: Column[];
}
export interface Report {
  data: ReportData;
  blocks: NumberArray[];
  tables: Table[];
}

/** What is wrong with the data of the page, in words for the reader of the page. */
export class DataError extends Error {}

export function checkVersion(data: unknown): ReportData {
  if (typeof data !== 'object' || data === null || !('hinge' in data)) throw new DataError('These are no data of a Hinge report.');
  const version = (data as { hinge: unknown }).hinge;
  if (version !== CONTRACT_VERSION)
    throw new DataError(`The data have version ${String(version)}, this page reads version ${CONTRACT_VERSION}.`);
  return data as ReportData;
}

function blockAt(blocks: NumberArray[], index: number, what: string): NumberArray {
  const block = blocks[index];
  if (!block) throw new DataError(`${what} is in block ${index}, which is not there.`);
  return block;
}

export function tablesOf(data: ReportData, blocks: NumberArray[]): Table[] {
  return data.tables.map((info) => {
    const time = blockAt(blocks, info.time, `The time of table '${info.name}'`);
    const columns = info.columns.map((column) => {
      const values = blockAt(blocks, column.block, `Column '${column.name}'`);
      if (values.length !== info.rows || time.length !== info.rows)
        throw new DataError(`Column '${column.name}' has ${values.length} rows, its table ${info.rows}.`);
      return { ...column, values };
    });
    return { info, time, columns };
  });
}

/** Reads everything; `blockText` gives the text of a block by its number. */
export async function readReport(json: string, blockText: (index: number) => string | null): Promise<Report> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw new DataError(`The metadata are no JSON: ${(error as Error).message}`);
  }
  const data = checkVersion(parsed);
  const blocks: NumberArray[] = [];
  for (let i = 0; i < data.blocks.length; ++i) {
    const text = blockText(i);
    if (text === null) throw new DataError(`Block ${i} is not in the page.`);
    try {
      blocks.push(await decodeBlock(data.blocks[i]!, text));
    } catch (error) {
      throw new DataError(`Block ${i}: ${(error as Error).message}`);
    }
  }
  return { data, blocks, tables: tablesOf(data, blocks) };
}

/** From the page itself; the texts of blocks are dropped once they are decoded. */
export async function readPage(page: Document): Promise<Report | null> {
  const element = page.getElementById('hinge-data');
  if (!element) return null;
  const report = await readReport(element.textContent ?? '', (i) => {
    const block = page.getElementById(`hinge-block-${i}`);
    const text = block?.textContent ?? null;
    block?.remove();
    return text;
  });
  return report;
}
