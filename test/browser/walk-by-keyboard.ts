import type { Page } from 'playwright-core';

/** The result of walking through a page without a mouse. */
export interface Walk {
  /** Things one could click that the Tab key never came to. */
  readonly missed: readonly string[];
  /** Stops without a visible focus indicator. */
  readonly unseen: readonly string[];
  /** Things that look clickable and are for the mouse alone. */
  readonly mouseOnly: readonly string[];
  /** How many stops there are. */
  readonly stops: number;
}

/** With more stops than this the walk goes in circles or is too long for a person. */
const MAX_STOPS = 400;

/** Goes once through a page with the Tab key. */
export async function walkByKeyboard(page: Page): Promise<Walk> {
  await page.evaluate(prepareWalk);
  const unseen: string[] = [];
  let stops = 0;
  for (; stops < MAX_STOPS; stops++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(lookAtStop);
    if (stop.isOver) break;
    if (!stop.isVisible) unseen.push(stop.what);
  }
  return { ...(await page.evaluate(endWalk)), unseen, stops };
}

/** In the page: marks nothing yet, and starts before the first element. */
function prepareWalk(): void {
  for (const element of document.querySelectorAll('[data-walked]')) element.removeAttribute('data-walked');
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  getSelection()?.setPosition(document.body, 0);
}

/** In the page: where the walk is, and whether one can see it. */
function lookAtStop(): { readonly isOver: boolean; readonly isVisible: boolean; readonly what: string } {
  const element = document.activeElement;
  // A date field has several stops.
  const isStill = element?.getAttribute('data-walked') === 'now';
  if (element === null || element === document.body || (element.hasAttribute('data-walked') && !isStill))
    return { isOver: true, isVisible: true, what: '' };
  document.querySelector('[data-walked=now]')?.setAttribute('data-walked', 'before');
  element.setAttribute('data-walked', 'now');
  // The mark may be that of the thing itself, of its shadow over a whole row, or of what stands around a hidden control.
  const styles = [
    getComputedStyle(element),
    getComputedStyle(element, '::after'),
    ...[element.parentElement, element.parentElement?.parentElement].flatMap((around) =>
      around === null || around === undefined ? [] : [getComputedStyle(around)],
    ),
  ];
  const isVisible =
    isStill ||
    styles.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1);
  return { isOver: false, isVisible, what: element.outerHTML.slice(0, 160) };
}

/** In the page: what the walk did not come to. */
function endWalk(): { readonly missed: readonly string[]; readonly mouseOnly: readonly string[] } {
  const CLICKABLE =
    'a[href], button, input, select, textarea, summary, [role=button], [role=tab], [role=option], [tabindex]';
  // Of a group that the arrow keys walk through (radio buttons, tabs, rows), Tab stops at one member.
  const EXCUSED = ':disabled, input[type=radio], [tabindex="-1"], [data-walked]';
  const shown = [...document.querySelectorAll('*')].filter((one) => one.checkVisibility({ visibilityProperty: true }));
  const missed = shown.filter((element) => element.matches(CLICKABLE) && !element.matches(EXCUSED));
  const mouseOnly = shown.filter(
    (element) =>
      getComputedStyle(element).cursor === 'pointer' &&
      element.closest(`${CLICKABLE}, label`) === null &&
      !element.matches(':disabled'),
  );
  const [first, second] = [missed, mouseOnly].map((found) => found.map(({ outerHTML }) => outerHTML.slice(0, 160)));
  return { missed: first ?? [], mouseOnly: second ?? [] };
}
