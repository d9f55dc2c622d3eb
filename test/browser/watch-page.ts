import type { Page } from 'playwright-core';

/** Things a page did that no page of the console may do. */
export interface PageRecord {
  /** Uncaught exceptions, and errors in the console. */
  readonly errors: string[];
  /** Requests to anywhere but the server of the page. */
  readonly strangers: string[];
  /** Violations of the page's content security policy. */
  readonly violations: string[];
  /** Elements that moved after they were first shown, without user input, and how far. */
  readonly shifts: { readonly value: number; readonly what: string }[];
  /** Dialogs and windows: ours has none. */
  readonly surprises: string[];
  /** Loaded resources: path and bytes on the wire. */
  readonly loaded: { readonly path: string; readonly bytes: number }[];
}

/** Notes from the first byte on what a page does. `mayFail` takes errors a test brings about itself. */
export async function watchPage(page: Page, origin: string, mayFail?: RegExp): Promise<PageRecord> {
  const record: PageRecord = { errors: [], strangers: [], violations: [], shifts: [], surprises: [], loaded: [] };
  const noteError = (text: string): void => {
    if (mayFail?.test(text) !== true) record.errors.push(text);
  };
  page.on('pageerror', (error) => noteError(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') noteError(`${message.text()} (${message.location().url})`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:' && url.protocol !== 'blob:') record.strangers.push(url.href);
  });
  page.on('dialog', (dialog) => {
    record.surprises.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => record.surprises.push(`window ${popup.url()}`));
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url());
    void request
      .sizes()
      .then(({ responseBodySize }) => record.loaded.push({ path: pathname, bytes: responseBodySize }))
      .catch(() => undefined);
  });
  await page.exposeBinding('noteViolation', (_source, text: string) => void record.violations.push(text));
  await page.exposeBinding('noteShift', (_source, value: number, what: string) => {
    record.shifts.push({ value, what });
  });
  await page.addInitScript(watchFromWithin);
  return record;
}

interface Notes {
  noteViolation?: (text: string) => void;
  noteShift?: (value: number, what: string) => void;
}

interface LayoutShift extends PerformanceEntry {
  readonly value: number;
  readonly hadRecentInput: boolean;
  readonly sources: readonly { readonly node: Node | null }[];
}

/** In the page: what only the page itself can observe. */
function watchFromWithin(): void {
  const { noteViolation, noteShift } = globalThis as Notes;
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
    noteViolation?.(`${violatedDirective} ${blockedURI} ${sample}`);
  });
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries() as LayoutShift[]) {
      const moved = sources.map(({ node }) => node?.parentElement?.outerHTML.slice(0, 200));
      if (!hadRecentInput) noteShift?.(value, moved.join(' | '));
    }
  }).observe({ type: 'layout-shift', buffered: true });
}
