import type { Page } from 'playwright-core';

/** The record of a page: errors and actions that no page of the console may have, and the loaded resources. */
export interface PageRecord {
  /** Uncaught exceptions, and errors in the console. */
  readonly errors: string[];
  /** Requests to hosts other than the page's server. */
  readonly foreignRequests: string[];
  /** Violations of the page's content security policy. */
  readonly violations: string[];
  /** Elements that moved after they were first shown, without user input, and how far. */
  readonly shifts: { readonly value: number; readonly what: string }[];
  /** Dialogs and windows: the console has none. */
  readonly dialogs: string[];
  /** Loaded resources: path and bytes on the wire. */
  readonly loaded: { readonly path: string; readonly bytes: number }[];
}

/** Records a page's activity, from the first byte. `mayFail` matches errors that a test causes on purpose. */
export async function watchPage(page: Page, origin: string, mayFail?: RegExp): Promise<PageRecord> {
  const record: PageRecord = { errors: [], foreignRequests: [], violations: [], shifts: [], dialogs: [], loaded: [] };
  const recordError = (text: string): void => {
    if (mayFail?.test(text) !== true) record.errors.push(text);
  };
  page.on('pageerror', (error) => recordError(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') recordError(`${message.text()} (${message.location().url})`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:' && url.protocol !== 'blob:')
      record.foreignRequests.push(url.href);
  });
  page.on('dialog', (dialog) => {
    record.dialogs.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => record.dialogs.push(`window ${popup.url()}`));
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url());
    void request
      .sizes()
      .then(({ responseBodySize }) => record.loaded.push({ path: pathname, bytes: responseBodySize }))
      .catch(() => undefined);
  });
  await page.exposeBinding('recordViolation', (_source, text: string) => void record.violations.push(text));
  await page.exposeBinding('recordShift', (_source, value: number, what: string) => {
    record.shifts.push({ value, what });
  });
  await page.addInitScript(observePage);
  return record;
}

interface Recorders {
  recordViolation?: (text: string) => void;
  recordShift?: (value: number, what: string) => void;
}

interface LayoutShift extends PerformanceEntry {
  readonly value: number;
  readonly hadRecentInput: boolean;
  readonly sources: readonly { readonly node: Node | null }[];
}

/** Observes what only the page itself can observe. Runs in the page. */
function observePage(): void {
  const { recordViolation, recordShift } = globalThis as Recorders;
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
    recordViolation?.(`${violatedDirective} ${blockedURI} ${sample}`);
  });
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries() as LayoutShift[]) {
      const movedElements = sources.map(({ node }) => node?.parentElement?.outerHTML.slice(0, 200));
      if (!hadRecentInput) recordShift?.(value, movedElements.join(' | '));
    }
  }).observe({ type: 'layout-shift', buffered: true });
}
