import type { Page } from 'playwright-core';

/** Finds elements that are cut off: those that make the page scroll horizontally, and controls beyond its edge. */
export async function findCutOff(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const isWide = document.documentElement.scrollWidth > innerWidth;
    const overflowing = [...document.querySelectorAll('a, button, input, select, textarea, summary, h1, h2')].filter(
      (element) => {
        if (!element.checkVisibility({ visibilityProperty: true })) return false;
        for (let around = element.parentElement; around !== null; around = around.parentElement) {
          // Content that scrolls horizontally within the page can be scrolled into view.
          if (/auto|scroll/.test(getComputedStyle(around).overflowX)) return false;
        }
        const { left, right } = element.getBoundingClientRect();
        return right > width + 1 && left >= 0;
      },
    );
    // The innermost elements beyond the edge, which make the page scroll.
    const widest = [...document.querySelectorAll('body *')].filter(
      (element) =>
        element.getBoundingClientRect().right > innerWidth + 1 &&
        ![...element.children].some((child) => child.getBoundingClientRect().right > innerWidth + 1),
    );
    return [
      ...(isWide ? ['the page scrolls horizontally', ...widest.map(({ outerHTML }) => outerHTML.slice(0, 160))] : []),
      ...overflowing.map(({ outerHTML }) => outerHTML.slice(0, 160)),
    ];
  });
}
