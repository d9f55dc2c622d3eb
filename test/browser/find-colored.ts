import type { Page } from 'playwright-core';

/** Lists the visible elements of a page, outside diffs, that have one of these colours, named by their custom property. */
export async function findColored(page: Page, ...names: readonly string[]): Promise<readonly string[]> {
  return page.evaluate((properties) => {
    const sample = document.createElement('span');
    document.body.append(sample);
    const colors = properties.map((name) => {
      sample.style.color = `var(${name})`;
      return getComputedStyle(sample).color;
    });
    sample.remove();
    return [...document.querySelectorAll<HTMLElement>('main *')]
      .filter((element) => element.closest('.diff-line') === null && element.checkVisibility())
      .filter((element) => {
        const { color, backgroundColor, borderLeftColor, borderLeftWidth } = getComputedStyle(element);
        const shown = [color, backgroundColor, ...(borderLeftWidth === '0px' ? [] : [borderLeftColor])];
        return shown.some((one) => colors.includes(one));
      })
      .map((element) => element.outerHTML.slice(0, 200));
  }, names);
}
