// What the reader sees first: can this be trusted? Then what was preserved and how well, by which method, at which cost.
import type { Doubt, Fact, FactList, Summary } from '../data/contract.ts';
import { formatCount, formatError, formatNumber, numberOf } from '../data/numbers.ts';
import { element, foreign, icon, ICONS, type Child } from '../page/element.ts';
import { gauge } from './gauge.ts';

export type Standing = 'sound' | 'doubtful' | 'failed' | 'running' | 'stopped' | 'unknown';

export function standingOf(data: Summary): Standing {
  if (data.status === 'failed') return 'failed';
  if (data.status === 'running') return 'running';
  if (!data.verdict) return data.status === 'stopped' ? 'stopped' : 'unknown';
  return data.verdict.sound && data.verdict.doubts.length === 0 ? 'sound' : 'doubtful';
}

const WORDS: Record<Standing, string> = {
  sound: 'Sound', doubtful: 'Doubtful', failed: 'Failed', running: 'Running', stopped: 'Stopped', unknown: 'No verdict',
};

function sentence(data: Summary, standing: Standing): string {
  const count = data.verdict?.doubts.length ?? 0;
  switch (standing) {
    case 'sound': return 'Nothing that was watched gives a reason to doubt this result.';
    case 'doubtful': return count === 1 ? 'There is one reason to doubt this result.' : `There are ${count} reasons to doubt this result.`;
    case 'failed': return 'The run did not reach its end. What was computed until then is shown.';
    case 'running': return 'The run goes on. The verdict comes with its end.';
    case 'stopped': return 'The run was stopped before its end.';
    case 'unknown': return 'The data contain no verdict.';
  }
}

const doubtItem = (doubt: Doubt): HTMLElement =>
  element('li', { class: 'doubt' },
    element('div', { class: 'doubt-head' }, element('span', { class: 'doubt-cause' }, foreign(doubt.cause)),
      element('span', { class: 'number' }, formatError(numberOf(doubt.value)))),
    element('div', { class: 'doubt-remedy' }, element('span', { class: 'label' }, 'Remedy'), foreign(doubt.remedy)));

export function methodLine(data: Summary): string {
  const { method, time } = data;
  const parts = [method.description ?? method.name];
  if (time.tolerance) {
    parts.push(`relative tolerance ${formatError(time.tolerance.relative)}, absolute ${formatError(time.tolerance.absolute)}`);
    if (time.shortest !== undefined && time.longest !== undefined) parts.push(`steps ${formatError(time.shortest)} to ${formatError(time.longest)}`);
  } else if (time.step !== undefined) parts.push(`step ${formatNumber(time.step)}`);
  parts.push(`t = ${formatNumber(time.start)} to ${formatNumber(time.end)}`);
  parts.push(`${formatCount(time.steps)} steps${time.rejected ? `, ${formatCount(time.rejected)} rejected` : ''}`);
  return parts.join(' · ');
}

/** With minus signs, which do not end a line within a number. */
export const numbersKept = (text: string): string => text.replace(/(^|[\s(=]|\de)-(?=[\d.])/g, '$1−');

function factRow(fact: Fact): HTMLElement {
  const value = fact.value === undefined ? null : numberOf(fact.value);
  const shown: Child[] = [];
  if (fact.text !== undefined) shown.push(foreign(fact.text));
  else if (value !== null) shown.push(fact.error ? formatError(value) : Number.isInteger(value) && Math.abs(value) < 1e9 ? formatCount(value) : formatNumber(value));
  return element('tr', {},
    element('th', { scope: 'row' }, foreign(fact.what), fact.symbol !== undefined && element('span', { class: 'symbol' }, foreign(fact.symbol.replace(/^-/, '−'))),
      fact.note !== undefined && element('span', { class: 'note' }, foreign(numbersKept(fact.note)))),
    element('td', { class: 'gauge-cell' }, fact.error && value !== null ? gauge(value) : null),
    element('td', { class: (fact.text?.length ?? 0) > 16 ? 'number long' : 'number' }, ...shown));
}

export function factTable(title: string, facts: Fact[]): HTMLElement | null {
  if (facts.length === 0) return null;
  return element('section', { class: 'facts' }, element('h3', {}, foreign(title)),
    element('table', {}, element('tbody', {}, ...facts.map(factRow))));
}

const listOf = (title: string, texts: string[] | undefined, kind: string): HTMLElement | null =>
  texts && texts.length > 0
    ? element('section', { class: `notes ${kind}` }, element('h3', {}, title), element('ul', {}, ...texts.map((text) => element('li', {}, foreign(text)))))
    : null;

export function verdictPanel(data: Summary): HTMLElement {
  const standing = standingOf(data);
  const doubts = data.verdict?.doubts ?? [];
  return element('section', { class: `verdict ${standing}`, 'aria-labelledby': 'verdict-word', 'data-standing': standing },
    element('div', { class: 'verdict-main' },
      element('div', { class: 'verdict-badge' }, icon(standing === 'sound' ? ICONS.check : standing === 'running' ? ICONS.play : ICONS.doubt)),
      element('div', { class: 'verdict-text' },
        element('h2', { id: 'verdict-word' }, WORDS[standing]), element('p', {}, sentence(data, standing)),
        data.message !== undefined && data.message !== '' && element('p', { class: 'message' }, foreign(data.message)))),
    doubts.length > 0 && element('ol', { class: 'doubts' }, ...doubts.map(doubtItem)),
    listOf('Warnings', data.warnings, 'warnings'), methodPart(data));
}

function methodPart(data: Summary): HTMLElement {
  const facts = data.method.facts ?? [];
  return element('div', { class: 'method' }, element('p', {}, foreign(methodLine(data))),
    data.settings ? element('p', {}, element('span', { class: 'label' }, 'set'), foreign(data.settings)) : null,
    facts.length > 0 && element('ul', {}, ...facts.map((fact) => element('li', {}, foreign(fact)))),
    listOf('Remarks', data.remarks, 'remarks'));
}

/** Everything else that the run reports, as small tables: what was kept on the left, what it cost on the right. */
export function factPanel(data: Summary): HTMLElement | null {
  const kept: FactList[] = [{ title: 'Preserved: largest violation over all steps', facts: data.preserved ?? [] }, ...(data.sections ?? [])];
  if (kept.every((section) => section.facts.length === 0) && (data.cost ?? []).length === 0) return null;
  return element('section', { class: 'panel fact-panel', 'aria-label': 'What was preserved, and the cost' },
    kept.some((section) => section.facts.length > 0) && element('div', { class: 'kept' }, ...kept.map((section) => factTable(section.title, section.facts))),
    element('div', { class: 'cost' }, factTable('Cost', data.cost ?? [])));
}
