import { describe, expect, it, vi } from 'vitest';
import { framesOf, LiveClient, LiveError, rowsOf, type Fetch } from '../../src/live/protocol.ts';
import { RunFollower, type FollowEvents } from '../../src/live/follow_run.ts';
import { requestOf } from '../../src/live/run_form.ts';
import { Growing } from '../../src/live/growing.ts';
import { readReport } from '../../src/data/report.ts';
import { ContactView } from '../../src/scene/contact_view.ts';
import { extentOf } from '../../src/scene/extent.ts';
import { inLengths, motionOf, type Motion } from '../../src/scene/motion.ts';
import { liveReply, liveRun, LIVE_TOKEN } from '../../fixtures/live_run.ts';

/** A program in memory: computes ten rows between two questions. */
class FakeServer {
  total = 20;
  asked: string[] = [];
  posted: unknown[] = [];
  fail = false;
  run = '1';
  fetch: Fetch = async (address, options) => {
    this.asked.push(address);
    if (this.fail) throw new TypeError('connection refused');
    const url = new URL(address, 'http://localhost');
    const token = options?.method === 'POST' ? new Headers(options.headers).get('X-Hinge-Token') : url.searchParams.get('token');
    if (token !== LIVE_TOKEN) return Response.json({ error: 'wrong token' }, { status: 403 });
    if (url.pathname === '/api/run') {
      this.posted.push(JSON.parse(String(options!.body)));
      return Response.json({ run: '2' }, { status: 202 });
    }
    this.total = Math.min(50, this.total + 10);
    return Response.json({ ...liveReply(Number(url.searchParams.get('after')), this.total, this.total < 50), run: this.run });
  };
}

async function start(server: FakeServer, token = LIVE_TOKEN) {
  const { data, texts } = liveRun(20);
  const report = await readReport(JSON.stringify(data), (i) => texts[i]!);
  const motions = [inLengths(motionOf(data.scene!.motions[0]!, report.blocks, 20), 20)];
  const scene = {
    time: report.blocks[data.scene!.frames.time]! as ArrayLike<number>, motionList: motions as readonly Motion[],
    grow(time: Float64Array, grown: Motion[]) { this.time = time; Object.assign(motions[0]!, grown[0]); },
  };
  const events = { rows: vi.fn(), summary: vi.fn(), otherRun: vi.fn(), trouble: vi.fn() } satisfies FollowEvents;
  const follower = new RunFollower(new LiveClient(token, server.fetch), '1', report.tables[0]!, scene, events, 100);
  return { follower, events, table: report.tables[0]!, scene, motions };
}

describe('a run in progress', () => {
  it('is followed to its end, without losing or doubling a row', async () => {
    const server = new FakeServer();
    const { follower, events, table, scene, motions } = await start(server);
    await follower.start(async () => {});
    expect(table.time.length).toBe(50);
    expect(Array.from(table.time)).toEqual(Array.from({ length: 50 }, (_, i) => i * 0.05));
    expect(table.columns.every((c) => c.values.length === 50)).toBe(true);
    expect(scene.time.length).toBe(50);
    expect(motions[0]!.positions.length).toBe(100);
    expect(events.summary).toHaveBeenCalled();
    expect(server.asked[0]).toBe(`/api/rows?after=20&frames=20&token=${LIVE_TOKEN}`);
    expect(server.asked[1]).toContain('after=30');
    expect(follower.wait).toBeNull();
  });
  it('goes on after trouble, more slowly', async () => {
    const server = new FakeServer();
    const { follower, events } = await start(server);
    server.fail = true;
    await follower.ask();
    await follower.ask();
    expect(follower.wait).toBe(400);
    expect(events.trouble).toHaveBeenLastCalledWith(expect.stringContaining('connection refused'));
    server.fail = false;
    await follower.ask();
    expect(events.trouble).toHaveBeenLastCalledWith('');
    expect(follower.wait).toBe(100);
  });
  it('stops where it is refused, and where another run has begun', async () => {
    const refused = await start(new FakeServer(), 'wrong');
    await refused.follower.ask();
    expect(refused.follower.wait).toBeNull();
    expect(refused.events.trouble).toHaveBeenCalledWith('The program refuses: wrong token');
    const server = new FakeServer();
    server.run = '7';
    const other = await start(server);
    await other.follower.ask();
    expect(other.events.otherRun).toHaveBeenCalled();
    expect(other.table.time.length).toBe(20);
  });
  it('refuses rows of another shape', () => {
    expect(() => rowsOf({ ...liveReply(0, 3, true), columns: [] }, 2)).toThrow(LiveError);
    expect(() => rowsOf({ ...liveReply(0, 3, true), rows: 4 }, 2)).toThrow(/another shape/);
    expect(rowsOf(liveReply(3, 3, true), 2)).toBeNull();
  });
});

describe('contacts of a run in progress', () => {
  it('are added behind those that are there', async () => {
    const { data, texts } = liveRun(20);
    const report = await readReport(JSON.stringify(data), (i) => texts[i]!);
    const motions = [inLengths(motionOf(data.scene!.motions[0]!, report.blocks, 20), 20)];
    const view = new ContactView(data.scene!.contacts!, report.blocks, motions, new Set(), extentOf([-1, -1, 0], [1, 1, 0]), true, 0);
    expect(view.scale).toBe(0);
    for (const [after, total] of [[20, 25], [25, 90]] as const) {
      const frames = framesOf(liveReply(after, total, true))!;
      motions[0] = Object.assign(motions[0]!, { positions: new Float32Array(2 * total) });
      view.grow(frames.contacts!);
    }
    view.update(10, 10, 0, 0.01); // a frame without contacts
    expect(view.shownContacts).toBe(0);
    view.update(60, 60, 0, 0.01);
    expect(view.shownContacts).toBe(1);
    expect(view.scale).toBe(90); // the largest is 1 + 89
  });
  it('of another shape are refused', () => {
    const reply = liveReply(0, 3, true);
    expect(() => framesOf({ ...reply, contacts: { ...reply.contacts!, bodies: '' } })).toThrow(/another shape/);
    expect(() => framesOf({ ...reply, contacts: { ...reply.contacts!, start: liveReply(0, 5, true).contacts!.start } })).toThrow(/another shape/);
    const { contacts, ...without } = reply;
    expect(contacts).toBeDefined();
    expect(framesOf(without)!.contacts).toBeNull();
  });
});

describe('running again', () => {
  const form = liveRun().data.live!.form!;
  it('sends what was changed, and the token in the head', async () => {
    const server = new FakeServer();
    const request = requestOf(form, 'gauss-lobatto', { parameters: ['2', '9.81'], options: ['3'], step: '0.05', tolerance: '', end: ' 20 ' });
    expect(request).toEqual({ parameters: { length: '2' }, method: 'gauss-lobatto', options: { stages: '3' }, end: '20' });
    await expect(new LiveClient(LIVE_TOKEN, server.fetch).run(request)).resolves.toEqual({ run: '2' });
    expect(server.posted).toEqual([request]);
    await expect(new LiveClient('x', server.fetch).run(request)).rejects.toThrow('wrong token');
  });
  it('has a status where there is no explanation', async () => {
    const client = new LiveClient('x', async () => new Response('oops', { status: 500 }));
    await expect(client.rows(0, 0)).rejects.toThrow('status 500');
  });
});

describe('growing arrays', () => {
  it('keep what they have', () => {
    const list = new Growing([1, 2], (n) => new Float64Array(n));
    for (let i = 3; i <= 500; ++i) list.append([i]);
    expect(Array.from(list.view())).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
  });
});
