// Play, step, scrub, loop, speed: the controls under the scene.
import { element, icon, ICONS } from '../page/element.ts';
import { formatNumber, formatTime } from '../data/numbers.ts';
import { comfortableSpeed, speedChoices, type Clock } from './clock.ts';

export interface Stepping {
  /** The time of the frame before or after a time. */
  neighbour(t: number, direction: 1 | -1): number;
}

const SLIDER = 10000;

export function iconButton(label: string, path: string, action: () => void, filled = false): HTMLButtonElement {
  const button = element('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label }, icon(path, filled));
  button.addEventListener('click', action);
  return button;
}

export function transport(clock: Clock, stepping: Stepping): HTMLElement {
  const play = iconButton('Play (space)', ICONS.play, () => clock.toggle(), true);
  play.classList.add('play');
  const loop = iconButton('Loop (L)', ICONS.loop, () => clock.setLoop(!clock.loop));
  const slider = element('input', { type: 'range', min: '0', max: String(SLIDER), step: '1', class: 'scrub', 'aria-label': 'Time' });
  const now = element('output', { class: 'time number', 'aria-label': 'Time' });
  const end = element('span', { class: 'time-end number' });
  const speed = element('select', { 'aria-label': 'Speed', class: 'speed' });
  const comfortable = comfortableSpeed(clock.span);
  for (const choice of speedChoices(comfortable))
    speed.append(element('option', { value: String(choice) }, choice === 1 ? '×1 true' : `×${formatNumber(choice, 3)}`));
  clock.setSpeed(comfortable);

  const showTime = (): void => {
    slider.value = String(clock.span > 0 ? Math.round(((clock.t - clock.start) / clock.span) * SLIDER) : 0);
    slider.setAttribute('aria-valuetext', `t = ${formatTime(clock.t, clock.span)}`);
    now.textContent = `t = ${formatTime(clock.t, clock.span)}`;
    end.textContent = `/ ${formatTime(clock.end, clock.span)}`;
    slider.style.setProperty('--done', `${(Number(slider.value) / SLIDER) * 100}%`);
  };
  const showState = (): void => {
    play.replaceChildren(icon(clock.playing ? ICONS.pause : ICONS.play, true));
    play.setAttribute('aria-label', clock.playing ? 'Pause (space)' : 'Play (space)');
    play.title = clock.playing ? 'Pause (space)' : 'Play (space)';
    loop.setAttribute('aria-pressed', String(clock.loop));
    speed.value = String(clock.speed);
  };
  slider.addEventListener('input', () => {
    const wanted = clock.start + (Number(slider.value) / SLIDER) * clock.span;
    clock.pause(); // shows the old time on the slider
    clock.set(wanted);
  });
  speed.addEventListener('change', () => clock.setSpeed(Number(speed.value)));
  clock.onTime(showTime);
  clock.onState(() => {
    showState();
    showTime();
  });
  showTime();
  showState();
  const jump = (t: number): void => {
    clock.pause();
    clock.set(t);
  };
  return element('div', { class: 'transport', role: 'group', 'aria-label': 'Playback' },
    element('div', { class: 'buttons' },
      iconButton('To the start (Home)', ICONS.first, () => jump(clock.start)),
      iconButton('One frame back (left arrow)', ICONS.back, () => jump(stepping.neighbour(clock.t, -1))),
      play,
      iconButton('One frame on (right arrow)', ICONS.forward, () => jump(stepping.neighbour(clock.t, 1))),
      iconButton('To the end (End)', ICONS.last, () => jump(clock.end)), loop),
    slider,
    element('div', { class: 'readout' }, now, end, speed));
}
