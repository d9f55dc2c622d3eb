import fc from 'fast-check';
import { copyFile, rename } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toBytes } from '../../events/contract/translate-lines.contract.js';
import { createTranslator } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import { SluiceError } from '../../base/index.js';
import { makeRunFolder } from '../../base/files/fixtures/make-run-folder.js';
import { createRunFolder, openRunLogs } from '../run-folder/index.js';
import { createMemoryEventLog } from '../ports/run-ports.js';
import { EventFeed } from './event-feed.js';

/** Events of a command that prints many lines: RASP and FCMP, interleaved irregularly. */
function manyEvents(lines: number): Emitted[] {
  const translator = createTranslator({ engine: 'generic', runId: 'r', attempt: 1, clock: () => 0 });
  const words = Array.from({ length: lines }, (_, index) => (index % 7 === 3 ? '' : `line ${index}`));
  const events = translator.push('stdout', toBytes(words));
  return [...events, ...translator.push('stderr', toBytes(['log'])), ...translator.end({ exitCode: 0, signal: null })];
}

async function collect(feed: AsyncIterable<Emitted>, pause: () => Promise<void>): Promise<Emitted[]> {
  const read: Emitted[] = [];
  for await (const emitted of feed) {
    read.push(emitted);
    await pause();
  }
  return read;
}

const doNotPause = async (): Promise<void> => Promise.resolve();

describe('every reader gets every event once and in order', () => {
  it('whether early, slow or late', async () => {
    const events = manyEvents(4000);
    const log = createMemoryEventLog();
    const feed = new EventFeed('r', log);
    let count = 0;
    const earlyReader = collect(feed, doNotPause);
    const slowReader = collect(feed, async () => {
      count += 1;
      if (count % 50 === 0) await turn();
    });
    for (let at = 0; at < events.length; at += 333) {
      const batch = events.slice(at, at + 333);
      await log.append('r', batch);
      feed.publish(batch);
      await turn();
    }
    feed.end();
    const lateReader = collect(feed, doNotPause);
    for (const read of await Promise.all([earlyReader, slowReader, lateReader])) expect(read).toEqual(events);
  });

  it('for any timing of events and readers', async () => {
    const events = manyEvents(1200);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 1500 }), { minLength: 1, maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }),
        async (sizes, rests) => {
          const log = createMemoryEventLog();
          const feed = new EventFeed('r', log);
          const readers = rests.map(async (rest) => {
            let count = 0;
            return collect(feed, async () => {
              count += 1;
              if (count % rest === 0) await turn();
            });
          });
          let at = 0;
          for (let index = 0; at < events.length; index += 1) {
            const batch = events.slice(at, at + (sizes[index % sizes.length] ?? 1));
            at += batch.length;
            await log.append('r', batch);
            feed.publish(batch);
            await turn();
          }
          feed.end();
          for (const read of await Promise.all(readers)) expect(read).toEqual(events);
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('the log is read', () => {
  function countReads() {
    const inner = createMemoryEventLog();
    const reads = { times: 0 };
    const read = async (query: Parameters<typeof inner.read>[0]) => {
      reads.times += 1;
      return inner.read(query);
    };
    return { reads, log: { ...inner, read } };
  }

  it('for readers that start late or fall far behind', async () => {
    const { reads, log } = countReads();
    const feed = new EventFeed('r', log);
    const slowReader = feed[Symbol.asyncIterator]();
    const events = manyEvents(20_000);
    await log.append('r', events);
    feed.publish(events.slice(0, 2));
    await slowReader.next();
    feed.publish(events.slice(2));
    feed.end();
    expect(await collect(feed, doNotPause)).toEqual(events);
    expect(reads.times).toBeGreaterThan(5);
    const before = reads.times;
    expect(await collect({ [Symbol.asyncIterator]: () => slowReader }, doNotPause)).toEqual(events.slice(1));
    expect(reads.times).toBeGreaterThan(before);
  });

  it('but not for readers that keep up, however many events arrive together', async () => {
    const { reads, log } = countReads();
    const feed = new EventFeed('r', log);
    const events = manyEvents(5000);
    const reading = collect(feed, doNotPause);
    await turn();
    for (let at = 0; at < events.length; at += 5000) {
      feed.publish(events.slice(at, at + 5000));
      await turn();
    }
    feed.end();
    expect(await reading).toEqual(events);
    expect(reads.times).toBe(0);
  });
});

it('a reader can stop early', async () => {
  const log = createMemoryEventLog();
  const feed = new EventFeed('r', log);
  const events = manyEvents(3);
  await log.append('r', events);
  feed.publish(events);
  for await (const emitted of feed) {
    expect(emitted.event.seq).toBe(1);
    break;
  }
});

it('a feed whose events could not be stored ends with that error', async () => {
  const feed = new EventFeed('r', createMemoryEventLog());
  const reading = collect(feed, doNotPause);
  feed.publish(manyEvents(1));
  feed.end(new SluiceError('RUN_STORAGE_FAILED', 'disk full'));
  await expect(reading).rejects.toMatchObject({ code: 'RUN_STORAGE_FAILED' });
});

it('a log that has lost events is not silently skipped', async () => {
  const feed = new EventFeed('r', createMemoryEventLog());
  feed.publish(manyEvents(3000));
  feed.end();
  await expect(collect(feed, doNotPause)).rejects.toMatchObject({ code: 'EVENT_LOG_INCOMPLETE' });
});

it('a feed without an event log reads the files of the run folder, even after they were replaced', async () => {
  const folder = await createRunFolder(await makeRunFolder({}));
  const events = manyEvents(12_000);
  const feed = new EventFeed('r', folder);
  const publish = async (from: number, to: number): Promise<void> => {
    const logs = await openRunLogs(folder);
    await logs.append(events.slice(from, to));
    await logs.close();
    feed.publish(events.slice(from, to));
  };
  const reader = feed[Symbol.asyncIterator]();
  await publish(0, 20_000);
  // The first events are no longer in memory, so this comes from the files.
  const read: unknown[] = [(await reader.next()).value];
  for (const log of ['rasp', 'fcmp'] as const) {
    await copyFile(folder.logPath(log), `${folder.logPath(log)}.new`);
    await rename(`${folder.logPath(log)}.new`, folder.logPath(log));
  }
  await publish(20_000, events.length);
  feed.end();
  for (let next = await reader.next(); next.done !== true; next = await reader.next()) read.push(next.value);
  expect(read).toEqual(JSON.parse(JSON.stringify(events)));
  expect(await collect(feed, doNotPause)).toHaveLength(events.length);
});
