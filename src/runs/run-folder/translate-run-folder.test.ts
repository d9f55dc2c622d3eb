import { appendFile, cp, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Emitted } from '../../events/protocol/translator-output.js';
import type { FcmpEvent } from '../../events/protocol/fcmp-event.js';
import { openAttemptCapture, writeAttemptMeta } from './attempt/attempt-capture.js';
import type { RunFolderWarning } from './run-folder-error.js';
import { lines, makeRunFolder } from '../../base/files/fixtures/make-run-folder.js';
import { openRunFolder, openWritableRunFolder } from './open-run-folder.js';
import { translateRunFolder } from './translate-run-folder.js';
import type { TranslateOptions } from './translate-run-folder.js';

const RECORDED = fileURLToPath(new URL('./fixtures/codex-resumed', import.meta.url));
const MESSAGE = { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'Hello.' } };
const TURN = lines({ type: 'thread.started', thread_id: 't-1' }, { type: 'turn.started' }, MESSAGE, {
  type: 'turn.completed',
  usage: { input_tokens: 1, output_tokens: 1 },
});

async function translate(dir: Parameters<typeof translateRunFolder>[0], options: TranslateOptions = {}) {
  const all: Emitted[] = [];
  const warnings: RunFolderWarning[] = [];
  for await (const emitted of translateRunFolder(dir, { onWarning: (warning) => warnings.push(warning), ...options })) {
    all.push(emitted);
  }
  return { all, fcmp: all.flatMap(selectFcmp), warnings: warnings.map((warning) => warning.code) };
}

function selectFcmp(emitted: Emitted): FcmpEvent[] {
  return emitted.protocol === 'fcmp' ? [emitted.event] : [];
}

describe('translateRunFolder', () => {
  test('yields the events of a recorded run, attempt after attempt, numbered continuously', async () => {
    const { fcmp, warnings } = await translate(RECORDED);
    expect(warnings).toEqual([]);
    expect(fcmp.map(({ seq }) => seq)).toEqual(fcmp.map((_, index) => index + 1));
    expect(new Set(fcmp.map(({ run_id }) => run_id))).toEqual(new Set(['codex-resumed']));
    expect(
      fcmp.filter(({ type }) => /conversation|final|required/.test(type)).map(({ type, meta }) => [meta.attempt, type]),
    ).toEqual([
      [1, 'conversation.started'],
      [1, 'assistant.message.final'],
      [1, 'user.input.required'],
      [2, 'assistant.message.final'],
      [2, 'conversation.completed'],
    ]);
  });

  test.each([
    ['beside .audit, where other tools write them', {}, 'a.ts'],
    ['in .audit first', { '.audit/meta.1.json': JSON.stringify({ engine: 'codex', exit_code: 0 }) }, undefined],
  ])('reads the meta and the changed files of an attempt %s', async (_, ours, created) => {
    const dir = await makeRunFolder({
      '.audit/stdout.1.log': TURN,
      'meta.1.json': JSON.stringify({ run_id: 'r-beside', engine: 'codex', exit_code: 0 }),
      'fs-diff.1.json': JSON.stringify({ created: ['a.ts'], modified: [], deleted: [] }),
      ...ours,
    });
    const { fcmp } = await translate(dir);
    expect(fcmp[0]?.run_id).toBe(created === undefined ? basename(dir) : 'r-beside');
    const artifacts = fcmp.flatMap((event) => (event.type === 'artifact.created' ? [event.data.path] : []));
    expect(artifacts).toEqual(created === undefined ? [] : [created]);
  });

  test.each([1, 2])(
    'reads all captured files of attempt %d: streams, terminal, meta, file changes',
    async (attempt) => {
      const otherMessage = { ...MESSAGE, item: { ...MESSAGE.item, text: 'Bye.' } };
      const dir = await makeRunFolder({
        'stdout.1.log': '',
        [`stdout.${attempt}.log`]: TURN,
        [`stderr.${attempt}.log`]: 'note\n',
        [`pty-output.${attempt}.log`]: lines(otherMessage),
        [`meta.${attempt}.json`]: '{"engine":"codex","exit_code":3}',
        [`fs-diff.${attempt}.json`]: '{"created":["a.md"],"modified":[],"deleted":[]}',
      });
      const { fcmp } = await translate(dir, { engine: 'codex', attempt });
      const texts = fcmp.flatMap(({ data }) => ('text' in data ? [data.text] : []));
      expect(texts).toEqual(expect.arrayContaining(['Hello.', 'Bye.', 'note']));
      expect(fcmp.map(({ type }) => type)).toContain('artifact.created');
      expect(JSON.stringify(fcmp)).toContain('TERMINAL_STATUS_COMPLETION_CONFLICT');
    },
  );

  test('reads the signal in the meta file', async () => {
    const dir = await makeRunFolder({
      'stdout.1.log': TURN.split('\n', 1).join(''),
      'meta.1.json': '{"engine":"codex","signal":"SIGKILL"}',
    });
    const { fcmp } = await translate(dir);
    expect(fcmp.at(-1)).toMatchObject({ type: 'conversation.failed', data: { error: { code: 'PROCESS_SIGNALED' } } });
  });

  test.each([
    ['once if no attempt names its session', {}, 1],
    ['again with a new session', { session_id: null }, 2],
  ])('a conversation starts %s', async (_, second, times) => {
    const meta = { engine: 'generic', exit_code: 0 };
    const dir = await makeRunFolder({
      'stdout.1.log': 'Which language?\n',
      'meta.1.json': JSON.stringify(meta),
      'stdout.2.log': 'Hello.\n',
      'meta.2.json': JSON.stringify({ ...meta, ...second }),
    });
    const { fcmp } = await translate(dir);
    expect(fcmp.filter(({ type }) => type === 'conversation.started')).toHaveLength(times);
  });

  test.each(['iflow', 'opencode'])(
    'a recorded session of %s starts its conversation once in two attempts',
    async (engine) => {
      const recordings = fileURLToPath(new URL(`../../events/engines/${engine}/fixtures/`, import.meta.url));
      const paths = await readdir(recordings, { recursive: true });
      // Text recordings of OpenCode name no session.
      const recording = paths.filter((path) => /h-resume\.\w+$/.test(path)).toSorted()[0] ?? '';
      const { fcmp } = await translate(join(recordings, recording));
      expect(new Set(fcmp.map(({ meta }) => meta.attempt))).toEqual(new Set([1, 2]));
      const started = fcmp.filter(({ type }) => type === 'conversation.started');
      expect(started).toMatchObject([{ data: { session_id: expect.any(String) }, meta: { attempt: 1 } }]);
      const [session] = started.map(({ correlation }) => correlation.session_id);
      expect(fcmp.at(-1)).toMatchObject({ meta: { attempt: 2 }, correlation: { session_id: session } });
    },
  );

  test('each attempt warns once about an unknown field', async () => {
    const field = lines({ type: 'turn.started', mood: 'fine' }, { type: 'turn.started', mood: 'bad' });
    const dir = await makeRunFolder({ 'stdout.1.log': field + TURN, 'stdout.2.log': field + TURN });
    const { fcmp } = await translate(dir, { engine: 'codex' });
    const unknown = fcmp.filter(({ data }) => 'subject' in data && data.subject === 'turn.started.mood');
    expect(unknown.map(({ meta }) => meta.attempt)).toEqual([1, 2]);
    const values = fcmp.flatMap(({ type, data }) => (type === 'raw.stdout' && 'text' in data ? [data.text] : []));
    expect(values.map((text) => /fine|bad/.exec(text)?.[0])).toEqual(['fine', 'bad', 'fine', 'bad']);
  });

  test('dates events by the start in the meta and the timing', async () => {
    const { fcmp } = await translate(RECORDED);
    const final = fcmp.find(({ type }) => type === 'assistant.message.final');
    const folder = await openRunFolder(RECORDED);
    const { started_at = '' } = await folder.meta(1);
    const ms = Date.parse(final?.ts ?? '') - Date.parse(started_at);
    expect(ms).toBeGreaterThan(0);
    expect((await translate(RECORDED)).fcmp).toEqual(fcmp);
  });

  test('a single attempt has the same events as in the whole run', async () => {
    const { fcmp } = await translate(RECORDED);
    const singleAttempt = await translate(RECORDED, { attempt: 2 });
    expect(singleAttempt.fcmp).toEqual(fcmp.filter(({ meta }) => meta.attempt === 2));
    expect(singleAttempt.fcmp[0]?.seq).toBeGreaterThan(1);
  });

  test('a session is passed to an attempt whose meta does not name one, but not if the meta has null', async () => {
    const meta = { engine: 'codex', started_at: '2026-01-01T00:00:00.000Z', exit_code: 0 };
    const other = TURN.replace('t-1', 't-2');
    const codes = async (second: object) => {
      const dir = await makeRunFolder({
        'stdout.1.log': TURN,
        'meta.1.json': JSON.stringify(meta),
        'stdout.2.log': other,
        'meta.2.json': JSON.stringify({ ...meta, ...second }),
      });
      const { fcmp } = await translate(dir);
      return fcmp.flatMap((event) => (event.type === 'diagnostic.warning' ? [event.data.code] : []));
    };
    expect(await codes({})).toContain('SESSION_ID_CHANGED');
    expect(await codes({ session_id: null })).not.toContain('SESSION_ID_CHANGED');
  });

  test('without meta and timing the run is named after the folder, and warnings list what is unknown', async () => {
    const dir = await makeRunFolder({ 'stdout.1.log': TURN, 'stderr.1.log': 'note\n' });
    const { fcmp, warnings } = await translate(dir, { engine: 'codex' });
    expect(fcmp[0]).toMatchObject({ run_id: basename(dir), ts: '1970-01-01T00:00:00.000Z' });
    expect(warnings).toEqual(['START_TIME_UNKNOWN', 'INTERLEAVING_UNKNOWN']);
    expect(fcmp.flatMap((event) => (event.type === 'diagnostic.warning' ? [event.data.code] : []))).toEqual([
      'INTERLEAVING_UNKNOWN',
    ]);
  });

  test("changed files become artifacts, except Sluice's own", async () => {
    const dir = await makeRunFolder({
      '.audit/stdout.1.log': TURN,
      '.audit/fs-diff.1.json': JSON.stringify({
        created: ['out/a.md', '.audit/events.jsonl'],
        modified: [],
        deleted: [],
      }),
    });
    const { fcmp } = await translate(dir, { engine: 'codex' });
    expect(fcmp.flatMap((event) => (event.type === 'artifact.created' ? [event.data.path] : []))).toEqual(['out/a.md']);
  });

  test('a replay of a live capture has the same times', async () => {
    const dir = await makeRunFolder({});
    const folder = await openWritableRunFolder(dir);
    const start = Date.parse('2026-01-01T00:00:00.000Z');
    await writeAttemptMeta(folder, 1, {
      run_id: 'r-1',
      engine: 'codex',
      started_at: new Date(start).toISOString(),
      exit_code: 0,
    });
    const capture = await openAttemptCapture(folder, 1);
    await capture.write([{ stream: 'stdout', bytes: Buffer.from(TURN.slice(0, 100)), ms: 10 }]);
    await capture.write([{ stream: 'stdout', bytes: Buffer.from(TURN.slice(100)), ms: 250 }]);
    await capture.close();
    const { fcmp } = await translate(dir);
    expect(fcmp.find(({ type }) => type === 'conversation.started')?.ts).toBe('2026-01-01T00:00:00.010Z');
    expect(fcmp.find(({ type }) => type === 'assistant.message.final')?.ts).toBe('2026-01-01T00:00:00.250Z');
  });

  test('a folder without a run, a missing attempt and an unnamed engine are typed errors', async () => {
    await expect(translate(await makeRunFolder({ 'notes.txt': '' }))).rejects.toMatchObject({
      code: 'RUN_FOLDER_EMPTY',
    });
    await expect(translate(RECORDED, { attempt: 3 })).rejects.toMatchObject({
      code: 'ATTEMPT_NOT_FOUND',
      message: expect.stringContaining('1, 2'),
    });
    await expect(translate(await makeRunFolder({ 'stdout.1.log': '' }))).rejects.toMatchObject({
      code: 'ENGINE_NOT_NAMED',
    });
  });

  test('a plain command’s run is read as text', async () => {
    const dir = await makeRunFolder({ 'stdout.1.log': 'hello\n', 'meta.1.json': '{"engine":"command","exit_code":0}' });
    expect((await translate(dir)).fcmp[0]?.engine).toBe('generic');
  });
});

describe('progress', () => {
  test.each([1, 2, undefined])(
    'reaches the total when the last requested byte is read (attempt %s)',
    async (attempt) => {
      const reports: (readonly [bytes: number, total: number])[] = [];
      await translate(RECORDED, {
        ...(attempt === undefined ? {} : { attempt }),
        onProgress: (bytes, total) => reports.push([bytes, total]),
      });
      const [bytes, total] = reports.at(-1) ?? [];
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBe(total);
    },
  );
});

describe('following', () => {
  test('yields new events until the meta shows that the attempt has ended, the same as afterwards', async () => {
    const dir = await makeRunFolder({});
    await cp(RECORDED, dir, { recursive: true });
    await rm(join(dir, 'meta.2.json'));
    await rm(join(dir, 'stdout.2.log'));
    await rm(join(dir, 'stderr.2.log'));
    const folder = await openWritableRunFolder(dir);
    const meta = await folder.meta(1);
    const { finished_at: _finished, exit_code: _code, ...running } = meta;
    await writeFile(join(dir, 'meta.1.json'), JSON.stringify(running));

    const events = translateRunFolder(dir, { follow: new AbortController().signal });
    const translated: FcmpEvent[] = [];
    const done = (async () => {
      for await (const emitted of events) translated.push(...selectFcmp(emitted));
    })();
    await expect
      .poll(() => translated.map(({ type }) => type), { timeout: 30_000 })
      .toContain('assistant.message.final');
    expect(translated.some(({ type }) => type === 'user.input.required')).toBe(false);
    await writeAttemptMeta(folder, 1, meta);
    await done;
    expect(translated).toEqual((await translate(dir)).fcmp);
    expect(translated.at(-1)?.type).toBe('user.input.required');
  });

  test('reports an attempt that does not exist after the last attempt has ended', async () => {
    const translated = translate(RECORDED, { attempt: 3, follow: new AbortController().signal });
    await expect(translated).rejects.toMatchObject({ code: 'ATTEMPT_NOT_FOUND' });
  });

  test('waits for a later attempt while the run continues, and for no attempt after its end', async () => {
    const dir = await makeRunFolder({});
    const meta = { run_id: 'r', engine: 'codex', started_at: '2026-11-16T00:00:00.000Z', exit_code: 0 };
    const writeAttempt = async (attempt: number, verdict: string) => {
      await appendFile(join(dir, `stdout.${attempt}.log`), TURN);
      const ended = { ...meta, mode: 'auto', verdict, finished_at: '2026-11-16T00:00:01.000Z' };
      await appendFile(join(dir, `meta.${attempt}.json`), JSON.stringify(ended));
    };
    await writeAttempt(1, 'retry');
    const folder = await openRunFolder(dir);
    let lookups = 0;
    const counting = {
      ...folder,
      attempts: async () => {
        lookups += 1;
        return folder.attempts();
      },
    };
    const done = translate(counting, { attempt: 2, follow: new AbortController().signal });
    done.catch(() => undefined);
    // After the first attempt the second one is looked up, and does not exist yet.
    await expect.poll(() => lookups, { timeout: 30_000 }).toBeGreaterThan(3);
    await writeAttempt(2, 'validated');
    const { fcmp } = await done;
    expect(new Set(fcmp.map((event) => event.meta.attempt))).toEqual(new Set([2]));
    const missing = translate(dir, { attempt: 3, follow: new AbortController().signal });
    await expect(missing).rejects.toMatchObject({ code: 'ATTEMPT_NOT_FOUND' });
  });

  test('waits for the first attempt and stops on abort, without inventing an end', async () => {
    const dir = await makeRunFolder({});
    const stop = new AbortController();
    const events = translateRunFolder(dir, { engine: 'codex', follow: stop.signal });
    const first = events.next();
    await appendFile(join(dir, 'stdout.1.log'), TURN);
    expect((await first).done).toBe(false);
    stop.abort();
    const rest: Emitted[] = [];
    for await (const emitted of events) rest.push(emitted);
    expect(rest.flatMap(selectFcmp).some(({ type }) => type === 'user.input.required')).toBe(false);
  });
});
