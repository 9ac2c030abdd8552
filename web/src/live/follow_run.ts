// Follows a run in progress: asks for new rows, adds them to the table and the scene, and slows down when nothing comes.
import type { Summary } from '../data/contract.ts';
import type { Table } from '../data/report.ts';
import type { Motion } from '../scene/motion.ts';
import { growingDoubles, growingFloats, type Growing } from './growing.ts';
import { framesOf, LiveError, rowsOf, type LiveClient, type NewContacts, type RowsReply } from './protocol.ts';

export interface SceneGrowth {
  time: ArrayLike<number>;
  motionList: readonly Motion[];
  grow(time: Float64Array, motions: Motion[], contacts: NewContacts | null): void;
}
export interface FollowEvents {
  rows(end: number): void;
  summary(summary: Summary): void;
  /** The program runs something else now: the page has to be loaded anew. */
  otherRun(): void;
  /** Empty: all is well again. */
  trouble(message: string): void;
}

const SLOWEST = 5000;

export class RunFollower {
  private time: Growing<Float64Array> | null;
  private columns: Growing<Float64Array>[];
  private frameTime: Growing<Float64Array> | null;
  private positions: Growing<Float32Array>[];
  private rotations: (Growing<Float32Array> | null)[];
  /** Until the next question, in milliseconds; null: the run has ended. */
  wait: number | null;

  constructor(private client: LiveClient, private run: string, private table: Table | null, private scene: SceneGrowth | null,
    private events: FollowEvents, private pollMs: number) {
    this.wait = pollMs;
    this.time = table ? growingDoubles(table.time) : null;
    this.columns = (table?.columns ?? []).map((column) => growingDoubles(column.values));
    this.frameTime = scene ? growingDoubles(scene.time) : null;
    this.positions = (scene?.motionList ?? []).map((motion) => growingFloats(motion.positions));
    this.rotations = (scene?.motionList ?? []).map((motion) => (motion.rotations ? growingFloats(motion.rotations) : null));
  }

  /** One question and its answer. */
  async ask(): Promise<void> {
    try {
      const reply = await this.client.rows(this.time?.length ?? 0, this.frameTime?.length ?? 0);
      if (reply.run !== this.run) {
        this.wait = null;
        this.events.otherRun();
        return;
      }
      const rowsCame = this.addRows(reply);
      const framesCame = this.addFrames(reply);
      const grown = rowsCame || framesCame;
      if (reply.summary) this.events.summary(reply.summary);
      if (grown) this.events.rows(Math.max(this.time?.view().at(-1) ?? -Infinity, this.frameTime?.view().at(-1) ?? -Infinity));
      this.events.trouble('');
      this.wait = reply.status === 'running' || grown ? (grown ? this.pollMs : Math.min(SLOWEST, (this.wait ?? this.pollMs) * 1.5)) : null;
    } catch (error) {
      const refused = error instanceof LiveError && (error.status === 403 || error.status === 404);
      this.wait = refused ? null : Math.min(SLOWEST, (this.wait ?? this.pollMs) * 2);
      this.events.trouble(refused ? `The program refuses: ${(error as Error).message}` : `No answer from the program: ${(error as Error).message}`);
    }
  }

  private addRows(reply: RowsReply): boolean {
    if (!this.table || !this.time) return false;
    const rows = rowsOf(reply, this.columns.length);
    if (!rows) return false;
    this.time.append(rows.time);
    rows.columns.forEach((values, i) => this.columns[i]!.append(values));
    this.table.time = this.time.view();
    this.table.info.rows = this.time.length;
    this.table.columns.forEach((column, i) => (column.values = this.columns[i]!.view()));
    return true;
  }

  private addFrames(reply: RowsReply): boolean {
    if (!this.scene || !this.frameTime) return false;
    const frames = framesOf(reply);
    if (!frames) return false;
    this.frameTime.append(frames.time);
    const grown = this.scene.motionList.map((motion, i) => {
      const more = frames.motions[i];
      if (!more) throw new LiveError('the program has sent frames of another shape', 200);
      this.positions[i]!.append(more.positions);
      if (more.rotations) this.rotations[i]?.append(more.rotations.map((x) => x * 32767));
      return { ...motion, positions: this.positions[i]!.view(), rotations: this.rotations[i]?.view() ?? null };
    });
    this.scene.grow(this.frameTime.view(), grown, frames.contacts);
    return true;
  }

  /** Asks until the run has ended. */
  async start(sleep: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms))): Promise<void> {
    while (this.wait !== null) {
      await sleep(this.wait);
      await this.ask();
    }
  }
}
