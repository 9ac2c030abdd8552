// The page: reads its data and puts verdict, scene, plots and model together.
import './page/style.css';
import 'uplot/dist/uPlot.min.css';
import { DataError, readPage, type Report } from './data/report.ts';
import type { Summary } from './data/contract.ts';
import { element, foreign, ICONS } from './page/element.ts';
import { currentTheme, onTheme, reducedMotion, startTheme, styleColour, toggleTheme } from './page/theme.ts';
import { PlotColumn } from './plot/plot_column.ts';
import { TimeRange } from './plot/time_range.ts';
import { film } from './scene/film.ts';
import { scenePanel, steppingOver } from './scene/scene_panel.ts';
import { SceneView } from './scene/scene_view.ts';
import { modelPanel } from './text/model_panel.ts';
import { visibleText } from './text/visible.ts';
import { Clock } from './time/clock.ts';
import { KEY_HELP, listenToKeys } from './time/keys.ts';
import { iconButton, transport } from './time/transport.ts';
import { factPanel, verdictPanel } from './verdict/verdict_panel.ts';
import { LiveClient } from './live/protocol.ts';
import { RunFollower } from './live/follow_run.ts';
import { runForm, type RunForm } from './live/run_form.ts';
import { KeptPage } from './live/kept_page.ts';
import { earlierRun, keepRun } from './live/earlier_run.ts';

const page = document.getElementById('page')!;

function keyHelp(): HTMLDialogElement {
  const rows = KEY_HELP.map(([key, meaning]) => element('tr', {}, element('th', { scope: 'row' }, element('kbd', {}, key)), element('td', {}, meaning)));
  const close = element('button', { type: 'button', class: 'small-button' }, 'close');
  const dialog = element('dialog', { 'aria-label': 'Keys' }, element('h2', {}, 'Keys'), element('table', {}, element('tbody', {}, ...rows)), close);
  close.addEventListener('click', () => dialog.close());
  return dialog;
}

function makeScene(report: Report): { view: SceneView; canvas: HTMLCanvasElement } | { failure: string } | null {
  const info = report.data.scene;
  if (!info) return null;
  const canvas = element('canvas', { tabindex: '0', role: 'img', 'aria-label': 'Moving picture of the model' });
  try {
    return { view: new SceneView(canvas, info, report.blocks, report.blocks[info.frames.time]!, report.data.live !== undefined), canvas };
  } catch (error) {
    return { failure: `The scene cannot be shown: ${(error as Error).message}` };
  }
}

/** Of rows and frames together; the run's own times where there are none. */
function timeSpan(report: Report): [number, number] {
  const times = report.tables.map((table) => table.time);
  if (report.data.scene) times.push(report.blocks[report.data.scene.frames.time]!);
  const filled = times.filter((time) => time.length > 0);
  if (filled.length === 0) return [report.data.time.start, report.data.time.end];
  return [Math.min(...filled.map((time) => time[0]!)), Math.max(...filled.map((time) => time[time.length - 1]!))];
}

function show(report: Report): void {
  const { data } = report;
  document.title = `${visibleText(data.title)} · Hinge`;
  const [start, end] = timeSpan(report);
  const clock = new Clock(start, end);
  const range = new TimeRange(start, end);
  const made = makeScene(report);
  const scene = made && 'view' in made ? made : null;
  const stepping = steppingOver(() => scene?.view.time ?? report.tables[0]?.time ?? []);
  const plots = new PlotColumn(report.tables, { clock, range, theme: currentTheme, earlier: () => (data.live ? earlierRun(sessionStorage, data.title) : null) });
  const help = keyHelp();

  const topics = element('div', { class: 'summary' }, verdictPanel(data), factPanel(data));
  const trouble = element('p', { class: 'trouble', role: 'alert', hidden: true });
  const header = element('header', { class: 'top' },
    element('span', { class: 'brand' }, 'Hinge'), element('h1', {}, foreign(data.title)),
    element('div', { class: 'top-tools' }, data.status === 'running' && element('span', { class: 'live-mark' }, 'running'),
      iconButton('Light or dark (T)', ICONS.theme, toggleTheme, true), helpButton(() => help.showModal())));

  let restyleScene = (): void => {};
  let scenePart: HTMLElement | null = null;
  if (scene) {
    const panel = scenePanel(scene.canvas, scene.view, clock, stepping, currentTheme);
    restyleScene = panel.restyle;
    Object.assign(window, { hingeFilm: film(scene.view, clock, panel.label) });
    scenePart = panel.root;
    scene.view.setTime(clock.t);
    clock.onTime((t) => scene.view.setTime(t));
  } else {
    const note = made && 'failure' in made ? made.failure : 'The model has no picture of its own: a [view] section can give it one.';
    scenePart = element('section', { class: 'panel scene without', 'aria-label': 'Scene' }, element('p', { class: 'plain' }, foreign(note)), transport(clock, stepping));
  }
  const about = [data.program, data.created].filter((text): text is string => text !== undefined).join(' · ');
  page.replaceChildren(header, trouble, element('main', {}, topics,
    element('div', { class: 'bench' }, element('div', { class: 'scene-place' }, scenePart), element('section', { class: 'panel plot-panel', 'aria-label': 'Plots' }, plots.root)),
    element('div', { class: 'live-place' }),
    data.model && modelPanel(data.model.name, data.model.text)),
    element('footer', {}, foreign(about), element('span', {}, data.live ? 'Served by hinge view on this machine; hinge run --report writes a page that lasts.' : 'This file is complete in itself and loads nothing.')), help);
  plots.start();

  const recolour = (): void => {
    const theme = currentTheme();
    scene?.view.setTheme(theme, { ink: styleColour('--scene-ink'), sheet: styleColour('--scene-sheet'), grid: styleColour('--scene-grid'), particles: styleColour('--scene-particles') });
    restyleScene();
  };
  recolour();
  onTheme(() => {
    recolour();
    plots.restyle();
  });
  listenToKeys({ clock, stepping, range, fit: () => scene?.view.stage.fit(), fill: () => scenePart?.classList.toggle('filling'), theme: toggleTheme, help: () => help.showModal() });
  if (data.status === 'running') clock.set(clock.end); // and goes on showing the end
  const hasTime = data.live && goLive(report, scene?.view ?? null, clock, range, plots, topics, trouble, () => restyleScene());

  let before = performance.now();
  const tick = (now: number): void => {
    clock.advance(Math.min(0.25, (now - before) / 1000));
    before = now;
    if (scene) scene.view.stage.paced(now / 1000, scene.view.draw());
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  if (scene && !reducedMotion() && data.status !== 'running' && !hasTime) clock.play();
  Object.assign(window, { hingePage: { clock, range, view: scene?.view ?? null, plots } }); // for tests and for films
  document.documentElement.dataset.ready = 'yes';
}

function helpButton(action: () => void): HTMLButtonElement {
  const button = element('button', { type: 'button', class: 'icon-button', 'aria-label': 'Keys (?)', title: 'Keys (?)' }, '?');
  button.addEventListener('click', action);
  return button;
}

/** True where the reader had chosen a time before this page was loaded anew. */
function goLive(report: Report, view: SceneView | null, clock: Clock, range: TimeRange, plots: PlotColumn, topics: HTMLElement, trouble: HTMLElement, restyle: () => void): boolean {
  const live = report.data.live!;
  const client = new LiveClient(live.token, (address, options) => fetch(address, options));
  const form: RunForm | null = live.form ? runForm(live.form, client, () => kept.isLeaving, () => {
    if (report.tables[0]) keepRun(sessionStorage, report.tables[0], report.data.title, report.data.settings ?? '');
    kept.reload(true);
  }) : null;
  if (form) document.querySelector('.live-place')!.append(form.root);
  const kept: KeptPage = new KeptPage({ title: report.data.title, clock, range, stage: view?.stage ?? null, form }, sessionStorage);
  // not while the program is asked for another run: its answer would be lost
  const reload = (): void => void (form?.asked ?? Promise.resolve()).then(() => kept.reload(false));
  const follower = new RunFollower(client, live.run, report.tables[0] ?? null, view, {
    rows: (end) => {
      const atEnd = clock.t >= clock.end;
      clock.end = Math.max(clock.end, end);
      range.extend(clock.end);
      plots.grown();
      restyle(); // the largest force may have grown
      if (atEnd && !clock.playing) clock.set(clock.end);
    },
    summary: (summary: Summary) => {
      const facts = factPanel(summary);
      topics.replaceChildren(verdictPanel(summary), ...(facts ? [facts] : []));
    },
    otherRun: reload,
    trouble: (message) => {
      trouble.hidden = message === '';
      trouble.textContent = visibleText(message);
    },
  }, live.poll_ms ?? 500);
  void follower.start();
  return kept.hasTime;
}

startTheme();
readPage(document).then(
  (report) => {
    if (report) show(report);
    else page.replaceChildren(element('p', { class: 'plain' }, 'This page has no data. hinge run MODEL --report out.html writes one that has.'));
  },
).catch((error: Error) => {
  document.documentElement.dataset.ready = 'failed';
  page.replaceChildren(element('p', { class: 'plain', role: 'alert' }, error instanceof DataError ? foreign(error.message) : foreign(`The page failed: ${error.message}`)));
});
