import { computed, signal } from '@preact/signals';
import { createTranslator, type Coverage } from '../../src/events/index.js';
import { createConversation } from '../../web/pages/run/conversation.js';
import { findHighlight, type RunData, type Selection } from '../../web/pages/run/highlight.js';
import { createItemFilter } from '../../web/pages/run/item-filter.js';
import type { OpenRun } from '../../web/pages/run/open-run.js';
import { createRawBlocks, createEventList, createRawRows } from '../../web/pages/run/raw-bytes.js';

/** A log that was translated into events. */
export interface OpenLog {
  /** The log in the form that the panes of the console show. */
  readonly run: OpenRun;
  /** The agent that the reader detected, or the chosen one. */
  readonly engine: string;
  readonly coverage: Coverage;
}

/** Translates an agent's log into events, as `sluice translate` does. */
export function openLog(text: string, engine: string): OpenLog {
  const bytes = new TextEncoder().encode(text);
  const now = Date.now();
  const translator = createTranslator({ engine, runId: 'playground', attempt: 1, clock: () => now });
  const emitted = [...translator.push('stdout', bytes), ...translator.end({ exitCode: 0, signal: null })];
  const data: RunData = { conversation: createConversation(), list: createEventList(), rows: createRawRows() };
  for (const { protocol, event } of emitted) {
    if (protocol === 'rasp') data.rows.addEvent(event, data.list.append(event));
    else data.conversation.append(event);
  }
  data.rows.setSize({ attempt_number: 1, stream: 'stdout' }, bytes.length);
  return {
    run: createRun(data, bytes, now),
    engine: data.list.events[0]?.source.engine ?? engine,
    coverage: translator.coverage(),
  };
}

/** Creates a run that has ended, with everything in memory. */
function createRun(data: RunData, bytes: Uint8Array, now: number): OpenRun {
  const redraws = { page: signal(0), timeline: signal(0), conversation: signal(0), events: signal(0), raw: signal(0) };
  const redraw = (): void => {
    for (const counter of Object.values(redraws)) counter.value += 1;
  };
  const filter = createItemFilter(data.conversation, redraw);
  filter.update();
  const selection = signal<Selection | null>(null);
  return {
    id: 'playground',
    data,
    blocks: createRawBlocks(async ({ byte_from, byte_to }) => Promise.resolve(bytes.slice(byte_from, byte_to)), redraw),
    filter,
    redraws,
    connection: signal({ state: 'ended' }),
    gaps: signal([]),
    span: signal({ start: now, end: now }),
    selection,
    highlight: computed(() => (selection.value === null ? null : findHighlight(data, selection.value))),
    replayTime: signal(null),
    behind: signal(null),
    tab: signal(null),
    skipped: signal([]),
    jumpToEnd: () => undefined,
    follow: () => undefined,
    close: () => undefined,
  };
}
