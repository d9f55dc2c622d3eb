import type { Page } from 'playwright-core';

/** The result of walking through a page without a mouse. */
export interface Walk {
  /** Clickable elements that the Tab key did not reach. */
  readonly unreached: readonly string[];
  /** Stops without a visible focus indicator. */
  readonly withoutFocusRing: readonly string[];
  /** Elements that look clickable but work only with the mouse. */
  readonly mouseOnly: readonly string[];
  /** The number of stops. */
  readonly stops: number;
}

/** With more stops the walk is endless or too long for a user. */
const MAX_STOPS = 400;

/** Walks once through a page with the Tab key. */
export async function walkByKeyboard(page: Page): Promise<Walk> {
  await page.evaluate(prepareWalk);
  const withoutFocusRing: string[] = [];
  let stops = 0;
  for (; stops < MAX_STOPS; stops++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(examineStop);
    if (stop.isOver) break;
    if (!stop.isVisible) withoutFocusRing.push(stop.what);
  }
  return { ...(await page.evaluate(endWalk)), withoutFocusRing, stops };
}

/** Removes all marks and moves the focus before the first element. Runs in the page. */
function prepareWalk(): void {
  for (const element of document.querySelectorAll('[data-walked]')) element.removeAttribute('data-walked');
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  getSelection()?.setPosition(document.body, 0);
}

/** Returns the focused element, and whether its focus is visible. Runs in the page. */
function examineStop(): { readonly isOver: boolean; readonly isVisible: boolean; readonly what: string } {
  const element = document.activeElement;
  // A date field has multiple stops.
  const isStill = element?.getAttribute('data-walked') === 'now';
  if (element === null || element === document.body || (element.hasAttribute('data-walked') && !isStill))
    return { isOver: true, isVisible: true, what: '' };
  document.querySelector('[data-walked=now]')?.setAttribute('data-walked', 'before');
  element.setAttribute('data-walked', 'now');
  // The focus indicator can be on the element itself, on a pseudo-element over its row, or around a hidden control.
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

/** Lists the elements that the walk did not reach. Runs in the page. */
function endWalk(): { readonly unreached: readonly string[]; readonly mouseOnly: readonly string[] } {
  const CLICKABLE =
    'a[href], button, input, select, textarea, summary, [role=button], [role=tab], [role=option], [tabindex]';
  // In a group that is navigated with arrow keys (radio buttons, tabs, rows), Tab stops at one member.
  const EXEMPT = ':disabled, input[type=radio], [tabindex="-1"], [data-walked]';
  const shown = [...document.querySelectorAll('*')].filter((one) => one.checkVisibility({ visibilityProperty: true }));
  const unreached = shown.filter((element) => element.matches(CLICKABLE) && !element.matches(EXEMPT));
  const mouseOnly = shown.filter(
    (element) =>
      getComputedStyle(element).cursor === 'pointer' &&
      element.closest(`${CLICKABLE}, label`) === null &&
      !element.matches(':disabled'),
  );
  const [first, second] = [unreached, mouseOnly].map((found) => found.map(({ outerHTML }) => outerHTML.slice(0, 160)));
  return { unreached: first ?? [], mouseOnly: second ?? [] };
}
