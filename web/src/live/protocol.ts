// What the page and `hinge view` say to each other. DATA.md has the same in words.
import { decodeBase64, numbersOf } from '../data/blocks.ts';
import type { RunStatus, Summary } from '../data/contract.ts';

export interface RowsReply {
  run: string;
  status: RunStatus;
  /** Rows that come, for the first table: columns in the order of the metadata, float64 in base64. */
  rows: number;
  time?: string;
  columns?: string[];
  /** Frames that come, for the scene: positions in lengths, quaternions as numbers, float32 in base64. */
  frames?: number;
  frame_time?: string;
  motions?: { positions: string; rotations?: string }[];
  /** Of these frames: uint32, float32, int32, float32 in base64; points in lengths. */
  contacts?: { start: string; points: string; bodies: string; forces: string };
  summary?: Summary;
}
export interface RunRequest {
  parameters: Record<string, string>;
  method: string;
  options: Record<string, string>;
  step?: string;
  tolerance?: string;
  end?: string;
}
export interface NewRows {
  time: Float64Array;
  columns: Float64Array[];
}
export interface NewFrames {
  time: Float64Array;
  motions: { positions: Float32Array; rotations: Float32Array | null }[];
  contacts: NewContacts | null;
}
export interface NewContacts {
  /** Contacts start[f] to start[f + 1] - 1 belong to frame f of those that come. */
  start: Uint32Array;
  points: Float32Array;
  bodies: Int32Array;
  forces: Float32Array;
}

export class LiveError extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

const doubles = (text: string | undefined): Float64Array => numbersOf(decodeBase64(text ?? ''), 'float64') as Float64Array;
const floats = (text: string): Float32Array => numbersOf(decodeBase64(text), 'float32') as Float32Array;

export function rowsOf(reply: RowsReply, columns: number): NewRows | null {
  if (reply.rows === 0) return null;
  const rows = { time: doubles(reply.time), columns: (reply.columns ?? []).map(doubles) };
  const right = rows.time.length === reply.rows && rows.columns.length === columns && rows.columns.every((c) => c.length === reply.rows);
  if (!right) throw new LiveError('the program has sent rows of another shape', 200);
  return rows;
}

function contactsOf(sent: NonNullable<RowsReply['contacts']>): NewContacts {
  const contacts = {
    start: numbersOf(decodeBase64(sent.start), 'uint32') as Uint32Array, points: floats(sent.points),
    bodies: numbersOf(decodeBase64(sent.bodies), 'int32') as Int32Array, forces: floats(sent.forces),
  };
  const total = contacts.start.at(-1) ?? 0;
  const right = contacts.bodies.length === 2 * total && [2, 3].some((d) => contacts.points.length === d * total && contacts.forces.length === d * total);
  if (!right) throw new LiveError('the program has sent contacts of another shape', 200);
  return contacts;
}

export function framesOf(reply: RowsReply): NewFrames | null {
  if (!reply.frames) return null;
  const frames: NewFrames = {
    time: doubles(reply.frame_time),
    motions: (reply.motions ?? []).map((m) => ({ positions: floats(m.positions), rotations: m.rotations === undefined ? null : floats(m.rotations) })),
    contacts: reply.contacts ? contactsOf(reply.contacts) : null,
  };
  const { contacts } = frames;
  if (frames.time.length !== reply.frames || (contacts && contacts.start.length !== reply.frames + 1)) throw new LiveError('the program has sent frames of another shape', 200);
  return frames;
}

export type Fetch = (address: string, options?: RequestInit) => Promise<Response>;

async function answer(response: Response): Promise<unknown> {
  let body: unknown = null;
  try {
    body = await response.json();
  } catch {
    // no JSON: the status says enough
  }
  if (!response.ok) {
    const said = typeof body === 'object' && body !== null && 'error' in body ? String((body as { error: unknown }).error) : `status ${response.status}`;
    throw new LiveError(said, response.status);
  }
  return body;
}

export class LiveClient {
  constructor(private token: string, private fetch: Fetch) {}

  async rows(after: number, frames: number): Promise<RowsReply> {
    const query = new URLSearchParams({ after: String(after), frames: String(frames), token: this.token });
    return (await answer(await this.fetch(`/api/rows?${query}`, { cache: 'no-store' }))) as RowsReply;
  }
  async run(request: RunRequest): Promise<{ run: string }> {
    const response = await this.fetch('/api/run', {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Hinge-Token': this.token }, body: JSON.stringify(request),
    });
    return (await answer(response)) as { run: string };
  }
}
