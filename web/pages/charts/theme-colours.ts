import type { SeriesTone } from './chart-model.js';

/** The colours of the theme in use, as a canvas takes them. */
export type Colours = Readonly<Record<SeriesTone | 'line', string>>;

/** Reads the tokens through an element: a canvas does not know `light-dark()`. */
export function readColours(within: HTMLElement): Colours {
  const probe = document.createElement('span');
  within.append(probe);
  const read = (token: string): string => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    good: read('good'),
    warn: read('warn'),
    bad: read('bad'),
    accent: read('accent'),
    dim: read('dim'),
    text: read('text'),
    line: read('line'),
  };
  probe.remove();
  return colours;
}
