import { describe, expect, it } from 'vitest';
import { SluiceError, silentLogger } from '../../base/index.js';
import { toBytes } from '../../events/contract/translate-lines.contract.js';
import { createTranslator } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import { createMemoryEventLog } from '../ports/run-ports.js';
import { EventFeed } from './event-feed.js';
import { RunJournal } from './run-journal.js';

function makeEvents(lines: readonly string[]): Emitted[] {
  const translator = createTranslator({ engine: 'generic', runId: 'r', attempt: 1, clock: () => 0 });
  return [...translator.push('stdout', toBytes(lines)), ...translator.end({ exitCode: 0, signal: null })];
}

/** A journal whose log fails on demand; `stored` contains the events in the log, `inFolder` the events in the files. */
function openJournal() {
  const memory = createMemoryEventLog();
  const feed = new EventFeed('r', memory);
  const ending = new AbortController();
  const inFolder: Emitted[] = [];
  const stored: Emitted[] = [];
  const state = { error: null as Error | null, losesResponse: false };
  const journal = new RunJournal('r', {
    files: {
      append: async (events) => void inFolder.push(...events),
      appendDrift: async () => undefined,
      flush: async () => undefined,
      close: async () => undefined,
    },
    log: {
      read: async (query) => memory.read(query),
      async append(runId, events) {
        if (state.error !== null) throw state.error;
        await memory.append(runId, events);
        stored.push(...events);
        if (!state.losesResponse) return;
        state.losesResponse = false;
        stored.splice(-events.length);
        throw new SluiceError('STORE_UNAVAILABLE', 'The connection broke.');
      },
    },
    feed,
    logger: silentLogger,
    ending: ending.signal,
  });
  const readAll = async () => {
    feed.end();
    const published: Emitted[] = [];
    for await (const emitted of feed) published.push(emitted);
    return published;
  };
  return { journal, state, inFolder, stored, ending, readAll };
}

const UNAVAILABLE = new SluiceError('STORE_UNAVAILABLE', 'The database does not answer.');

describe('while the event log is unavailable', () => {
  it('a run continues: its events are in the folder, and reach the log and the readers later, in order', async () => {
    const { journal, state, inFolder, stored, readAll } = openJournal();
    const events = makeEvents(['a', 'b', 'c', 'd']);
    await journal.write(events.slice(0, 2));
    state.error = UNAVAILABLE;
    for (const emitted of events.slice(2)) await journal.write([emitted]);
    expect(inFolder).toEqual(events);
    expect(stored).toEqual(events.slice(0, 2));
    state.error = null;
    await journal.close();
    expect(stored).toEqual(events);
    expect(await readAll()).toEqual(events);
  });

  it('a call whose response was lost is repeated without duplicating an event', async () => {
    const { journal, state, readAll, stored } = openJournal();
    const events = makeEvents(['a', 'b']);
    state.losesResponse = true;
    await journal.write(events);
    await journal.close();
    expect(stored).toEqual(events);
    expect(await readAll()).toEqual(events);
  });

  it('an agent that prints more than the buffer can store waits until the log is available', async () => {
    const { journal, state, stored } = openJournal();
    state.error = UNAVAILABLE;
    const big = makeEvents(['x'.repeat(20 * 1024 * 1024)]);
    await journal.write(makeEvents(['a']).slice(0, 1));
    let isBlocked = true;
    const writing = journal.write(big).then(() => (isBlocked = false));
    await new Promise(setImmediate);
    expect(isBlocked).toBe(true);
    state.error = null;
    await writing;
    expect(stored.length).toBe(1 + big.length);
  });

  it('a process that must exit does not wait for the log', async () => {
    const { journal, state, ending } = openJournal();
    state.error = UNAVAILABLE;
    await journal.write(makeEvents(['a']));
    ending.abort();
    await expect(journal.close()).rejects.toBe(UNAVAILABLE);
  });
});

it('a log that rejects events permanently fails the run immediately', async () => {
  const { journal, state } = openJournal();
  state.error = new SluiceError('STORE_CLOSED', 'The store is closed.');
  await expect(journal.write(makeEvents(['a']))).rejects.toBe(state.error);
  await expect(journal.close()).rejects.toBe(state.error);
});
