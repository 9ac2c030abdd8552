// The model file as it was run, so that the page documents itself.
import { element } from '../page/element.ts';
import { tokensOf } from './highlight.ts';
import { visibleText } from './visible.ts';

const MOST_LINES = 5000;

export function modelPanel(name: string, text: string): HTMLElement {
  const lines = tokensOf(visibleText(text, true).replace(/\n$/, ''));
  const code = element('code', { class: 'model-text', dir: 'ltr' });
  for (const tokens of lines.slice(0, MOST_LINES)) {
    const line = element('span', { class: 'line' });
    for (const { kind, text: part } of tokens) {
      const span = document.createElement('span');
      span.className = `token-${kind}`;
      span.textContent = part;
      line.append(span);
    }
    if (tokens.length === 0) line.append('\u200b');
    code.append(line, '\n');
  }
  const copy = element('button', { type: 'button', class: 'small-button' }, 'copy');
  copy.addEventListener('click', () => {
    navigator.clipboard?.writeText(text).then(() => (copy.textContent = 'copied'), () => (copy.textContent = 'not allowed'));
  });
  return element('section', { class: 'panel model', 'aria-label': 'Model' },
    element('header', { class: 'panel-head' }, element('h2', {}, 'Model'), element('bdi', { class: 'file-name' }, visibleText(name)), copy),
    element('pre', { tabindex: '0', 'aria-label': 'Text of the model' }, code),
    lines.length > MOST_LINES && element('p', { class: 'plain' }, `${lines.length - MOST_LINES} more lines are not shown.`));
}
