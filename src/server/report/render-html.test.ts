import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import type { FcmpEvent } from '../../events/index.js';
import { gatherReport } from './gather-report.js';
import type { RunReport } from './gather-report.js';
import { openRunFolder } from '../../runs/run-folder/index.js';
import { renderHtml } from './render-report.js';

const MALICIOUS = `</pre><script>alert(1)</script><img src=x onerror=alert(1)> "'&amp; \u202Egpj.exe \u0000`;
const REPORT: RunReport = {
  id: '01RUN',
  items: [],
  attempts: [],
  omittedAttempts: 0,
  events: [],
  omittedEvents: 0,
  streams: [{ name: MALICIOUS, text: MALICIOUS, omittedBytes: 3 }],
};
const render = (report: RunReport, maskText = (text: string) => text): string =>
  renderHtml(report, { version: '1.2.3', maskText });

describe('renderHtml', () => {
  it('shows malicious output as text', () => {
    const html = render(REPORT);
    expect(html).not.toMatch(/<script|<img|onerror=alert\(1\)>/i);
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).toContain('U+202Egpj.exe');
    expect(html).not.toContain('\u202E');
    expect(html).toContain('The first 3 bytes are omitted.');
  });

  it('prevents the page from loading anything but its style sheet', () => {
    const html = render(REPORT);
    const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(html).toContain(
      `content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(html).not.toMatch(/<(?:a|link|iframe|form|object|embed|svg)\b|\bhref=|\bsrc=[^x]/i);
  });

  it('masks secrets, even where long text is truncated', () => {
    const long = 'x'.repeat(128 * 1024 - 3) + 'secret' + 'y'.repeat(10);
    const html = render({ ...REPORT, streams: [{ name: 'stdout', text: long, omittedBytes: 0 }] }, (text) =>
      text.replaceAll('secret', '******'),
    );
    expect(html).not.toContain('xsec');
    expect(html).toContain('x***');
  });

  it('never splits a character where a long text is cut', () => {
    const text = `${'x'.repeat(128 * 1024 - 1)}😀😀`;
    const html = render({ ...REPORT, streams: [{ name: 'stdout', text, omittedBytes: 0 }] });
    expect(html).toContain('x\n… (4 more characters)');
    expect(html).not.toContain('U+D83D');
  });

  it.each([
    ['escaped characters', '<'],
    ['characters of three bytes', '好'],
  ])('creates at most 9 MB of %s, with a note that something is missing', (_title, character) => {
    const text = character.repeat(128 * 1024);
    const streams = Array.from({ length: 100 }, (_, index) => ({
      name: `stdout of attempt ${index}`,
      text,
      omittedBytes: 0,
    }));
    const html = render({ ...REPORT, streams });
    expect(Buffer.byteLength(html)).toBeLessThan(9_000_000);
    expect(html).toContain('The page has reached its maximum size');
    expect(html.endsWith('</body></html>\n')).toBe(true);
  });

  it('ends with the note if the page is full, without headers of further events', () => {
    const events = Array.from({ length: 200 }, (_, index) => createEvent(index + 1, '好'.repeat(64 * 1024)));
    const html = render({ ...REPORT, events });
    const note = html.indexOf('The page has reached its maximum size');
    expect(note).toBeGreaterThan(html.lastIndexOf('class="event"'));
    expect(html).not.toContain('200 raw.stdout');
  });
});

const open = (dir: string, mask = (bytes: Uint8Array) => bytes) => ({
  openFolder: async () => openRunFolder(dir),
  mask,
});

describe('gatherReport', () => {
  it('keeps the ends of long streams and the first and last events', async () => {
    const events = Array.from({ length: 1200 }, (_, index) => createEvent(index + 1));
    const dir = await makeFolder({
      '.audit/meta.1.json': '{"engine":"codex"}',
      '.audit/stdout.1.log': `${'a'.repeat(200 * 1024)}end`,
      '.audit/fcmp.jsonl': events.map((event) => `${JSON.stringify(event)}\n`).join(''),
    });
    const report = await gatherReport(open(dir), { id: '01RUN', items: [] });
    expect(report.events.map(({ seq }) => seq)).toEqual([
      ...Array.from({ length: 500 }, (_, index) => index + 1),
      ...Array.from({ length: 500 }, (_, index) => index + 701),
    ]);
    expect(report.omittedEvents).toBe(200);
    const [stdout] = report.streams;
    expect(stdout?.text.endsWith('end')).toBe(true);
    expect(stdout?.omittedBytes).toBe(200 * 1024 + 3 - 128 * 1024);
  });

  it('shows the last 10 attempts, and says how many are omitted', async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    const files = numbers.flatMap((number) => [
      [`.audit/meta.${number}.json`, `{"started_at":"2026-11-16T00:00:${10 + number}.000Z"}`],
      [`.audit/stdout.${number}.log`, 'out'],
    ]);
    const dir = await makeFolder(Object.fromEntries(files) as Record<string, string>);
    const report = await gatherReport(open(dir), { id: '01RUN', items: [] });
    expect(report.attempts.map(({ attempt }) => attempt)).toEqual(numbers.slice(2));
    const html = render(report);
    expect(html).toContain('<th>Attempts</th><td>12 (the output of the first 2 is omitted)</td>');
    // The first attempt that is shown is not the start of the run.
    expect(html).not.toContain('2026-11-16T00:00:13.000Z');
  });

  it('masks a secret that starts before the reported part of a stream', async () => {
    const stdout = `${'a'.repeat(1000)}secret${'b'.repeat(128 * 1024 - 3)}`;
    const dir = await makeFolder({ '.audit/meta.1.json': '{}', '.audit/stdout.1.log': stdout });
    const mask = (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString().replaceAll('secret', '******'));
    const { streams } = await gatherReport(open(dir, mask), { id: '01RUN', items: [] });
    expect(streams).toEqual([
      { name: 'stdout of attempt 1', text: `***${'b'.repeat(128 * 1024 - 3)}`, omittedBytes: 1003 },
    ]);
  });

  it('reports why a folder could not be read', async () => {
    const report = await gatherReport(open('/nowhere/at/all'), { id: '01RUN', items: [] });
    expect(report).toMatchObject({ problem: expect.stringContaining('/nowhere/at/all'), events: [] });
    expect(render(report)).toContain('/nowhere/at/all');
  });
});

function createEvent(seq: number, text = `line ${seq}`): FcmpEvent {
  return {
    protocol_version: 'fcmp/1.2',
    run_id: '01RUN',
    seq,
    ts: '2026-11-16T00:00:00.000Z',
    engine: 'codex',
    type: 'raw.stdout',
    data: { text },
    correlation: { attempt: 1, session_id: null },
  } as unknown as FcmpEvent;
}
