// Parameters and the method, to change and run again.
import type { LiveInfo, LiveOption } from '../data/contract.ts';
import { element, foreign } from '../page/element.ts';
import { visibleText } from '../text/visible.ts';
import type { LiveClient, RunRequest } from './protocol.ts';

type Form = NonNullable<LiveInfo['form']>;
const TIMES = ['step', 'tolerance', 'end'] as const;

/** Only what was changed is sent; options belong to the chosen method. */
export function requestOf(form: Form, method: string, typed: { parameters: string[]; options: string[] } & Record<(typeof TIMES)[number], string>): RunRequest {
  const request: RunRequest = { parameters: {}, method, options: {} };
  form.parameters.forEach((parameter, i) => {
    const value = typed.parameters[i]?.trim() ?? '';
    if (value !== '' && value !== parameter.value) request.parameters[parameter.name] = value;
  });
  const options = form.methods.find((m) => m.name === method)?.options ?? [];
  options.forEach((option, i) => {
    const value = typed.options[i]?.trim() ?? '';
    if (value !== '' && value !== option.value) request.options[option.name] = value;
  });
  for (const key of TIMES) {
    const value = typed[key].trim();
    if (value !== '' && value !== form[key]) request[key] = value;
  }
  return request;
}

function field(option: LiveOption): { row: HTMLElement; input: HTMLInputElement | HTMLSelectElement } {
  let input: HTMLInputElement | HTMLSelectElement;
  if (option.words) {
    input = element('select', {});
    for (const word of option.words) input.append(element('option', { value: word }, visibleText(word)));
    input.value = option.value;
  } else {
    input = element('input', { type: 'text', spellcheck: 'false', autocomplete: 'off' });
    input.value = option.value;
  }
  const row = element('label', { class: 'field', title: visibleText(option.meaning ?? '') },
    element('span', { class: 'field-name' }, foreign(option.name), option.unit !== undefined && option.unit !== '' && element('span', { class: 'unit' }, foreign(option.unit))), input);
  return { row, input };
}

export interface RunForm {
  root: HTMLElement;
  message: HTMLElement;
  /** Until the program has answered; null: nothing has been asked. */
  asked: Promise<void> | null;
  /** It was sent when the page was about to be loaded anew: the next page has to send it. */
  waiting: boolean;
}

/** `leaving`: the page is about to be loaded anew. */
export function runForm(form: Form, client: LiveClient, leaving: () => boolean, started: () => void): RunForm {
  const parameters = form.parameters.map(field);
  const times = TIMES.map((name) => field({ name, value: form[name] ?? '' }));
  const method = element('select', {});
  for (const m of form.methods) method.append(element('option', { value: m.name }, visibleText(m.name)));
  method.value = form.method;
  const meaning = element('p', { class: 'note' });
  const optionBox = element('div', { class: 'fields' });
  let options: ReturnType<typeof field>[] = [];
  const showMethod = (): void => {
    const chosen = form.methods.find((m) => m.name === method.value);
    meaning.replaceChildren(foreign(chosen?.meaning ?? ''));
    options = (chosen?.options ?? []).map(field);
    optionBox.replaceChildren(...options.map((o) => o.row));
  };
  method.addEventListener('change', showMethod);
  showMethod();
  const message = element('p', { class: 'form-message', role: 'status' });
  const button = element('button', { type: 'submit', class: 'run-button' }, 'Run again');
  const made = element('form', { class: 'run-form', 'aria-label': 'Run again with other values' },
    element('div', { class: 'fields' }, ...parameters.map((p) => p.row)),
    element('div', { class: 'fields' }, element('label', { class: 'field' }, element('span', { class: 'field-name' }, 'method'), method), ...times.map((time) => time.row)),
    meaning, optionBox, element('div', { class: 'form-end' }, button, message));
  const root = element('section', { class: 'panel' }, element('header', { class: 'panel-head' }, element('h2', {}, 'Run again')), made);
  const handle: RunForm = { root, message, asked: null, waiting: false };
  const hold = (held: boolean): void => {
    button.disabled = held;
    for (const fields of made.querySelectorAll<HTMLElement>('.fields')) fields.inert = held;
  };
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    handle.waiting = leaving();
    if (handle.waiting || handle.asked) return;
    const focused = document.activeElement as HTMLElement | null;
    hold(true);
    message.textContent = 'asking';
    const values = (list: typeof options): string[] => list.map((f) => f.input.value);
    const request = requestOf(form, method.value, { parameters: values(parameters), options: values(options), step: times[0]!.input.value, tolerance: times[1]!.input.value, end: times[2]!.input.value });
    handle.asked = client.run(request).then(
      () => {
        message.textContent = 'running';
        started();
      },
      (error: Error) => {
        message.textContent = visibleText(error.message, true);
        hold(false);
        focused?.focus({ preventScroll: true });
      }).finally(() => (handle.asked = null));
  });
  return handle;
}
