import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Frame } from './frame.js';
import { createFramer } from './framer.js';

const encoder = new TextEncoder();

function readFrames(
  input: string | Uint8Array,
  options: { size?: number; framing?: 'json' | 'text'; maxLineBytes?: number } = {},
) {
  const bytes = typeof input === 'string' ? encoder.encode(input) : input;
  const frames: Frame[] = [];
  const framer = createFramer({
    stream: 'stdout',
    framing: options.framing ?? 'json',
    recognizes: (value) => 'type' in value,
    onFrame: (frame) => frames.push(frame),
    ...(options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }),
  });
  const size = options.size ?? Math.max(1, bytes.length);
  for (let start = 0; start < bytes.length; start += size) framer.push(bytes.subarray(start, start + size));
  framer.end();
  return frames;
}

/** Returns the content of the frames without their positions. */
function readContents(input: string | Uint8Array): unknown[] {
  return readFrames(input).map((frame) =>
    frame.kind === 'json' ? frame.value : frame.kind === 'text' ? frame.text : frame.kind,
  );
}

describe('a stream of JSON lines', () => {
  it('is one frame per line, including terminators', () => {
    expect(readFrames('{"type":"a"}\n{"type":"b"}\r\n')).toMatchObject([
      { kind: 'json', from: 0, to: 13, value: { type: 'a' }, text: '{"type":"a"}' },
      { kind: 'json', from: 13, to: 27, value: { type: 'b' }, text: '{"type":"b"}' },
    ]);
  });

  it('can end without a newline', () => {
    expect(readContents('{"type":"a"}\n{"type":"b"}')).toEqual([{ type: 'a' }, { type: 'b' }]);
  });

  it('can have multiple values on a line', () => {
    expect(readFrames('{"type":"a"}{"type":"b"} [1]\n')).toMatchObject([
      { kind: 'json', from: 0, to: 12 },
      { kind: 'json', from: 12, to: 24 },
      { kind: 'json', from: 24, to: 29, value: [1] },
    ]);
  });

  it('can have a value that spans many lines', () => {
    expect(readFrames('{\n  "type": "a",\r\n  "list": [1,\n2]\n}\nafter\n')).toMatchObject([
      { kind: 'json', from: 0, to: 37, value: { type: 'a', list: [1, 2] } },
      { kind: 'text', text: 'after' },
    ]);
  });

  it('can have line breaks inside strings', () => {
    expect(readContents('{"type":"a","text":"one\ntwo {}\r\nthree"}\n{"type":"b"}\n')).toEqual([
      { type: 'a', text: 'one\ntwo {}\nthree' },
      { type: 'b' },
    ]);
  });

  it('can have a value directly after one that ends in the middle of a line', () => {
    expect(readContents('{\n"type":"a"\n} {"type":"b"}{"type":\n"c"} tail\n')).toEqual([
      { type: 'a' },
      { type: 'b' },
      { type: 'c' },
      ' tail',
    ]);
  });

  it('can be wrapped in colours and titles', () => {
    const line = '\u001b]0;title\u0007\u001b[32m{"type":"a"}\u001b[0m\u001b[?25h\r\n';
    expect(readFrames(line)).toMatchObject([{ kind: 'json', from: 0, to: line.length, value: { type: 'a' } }]);
  });

  it('can have colours inside a value', () => {
    expect(readContents('{"type":\u001b[1m"a"\u001b[0m,"x":"\u001b[31mred\u001b[0m"}\n')).toEqual([
      { type: 'a', x: 'red' },
    ]);
  });

  it('is read after an escape sequence that never ends', () => {
    expect(readContents('\u001b]0;torn title{"type":"a"}\n')).toEqual(['0;torn title', { type: 'a' }]);
  });

  it('can have a log prefix before a document', () => {
    expect(readFrames('[ERROR] {\n "session_id": "g"\n}\n')).toMatchObject([
      { kind: 'json', from: 0, value: { session_id: 'g' }, text: '{\n "session_id": "g"\n}' },
    ]);
    expect(readContents('[ERROR] {"a":1}\n')).toEqual([{ a: 1 }]);
  });

  it('can be in a terminal recording', () => {
    const recording =
      'Script started on 2026-11-15 00:45:31+00:00 [COMMAND="x" <not executed on terminal>]\n' +
      '{"type":"a"}\r\n\nScript done on 2026-11-15 00:45:37+00:00 [COMMAND_EXIT_CODE="0"]\n';
    expect(readContents(recording)).toEqual(['script', { type: 'a' }, 'blank', 'script']);
  });

  it('can have NUL bytes around and inside values', () => {
    expect(readContents('\u0000\u0000{"type":"a"}\u0000\n{"type":"b\u0000c"}\n\u0000\u0000')).toEqual([
      { type: 'a' },
      { type: 'b\u0000c' },
      'blank',
    ]);
  });

  it('can start with a byte order mark', () => {
    expect(readContents('\uFEFF{"type":"a"}\n')).toEqual([{ type: 'a' }]);
  });

  it('keeps the last of two equal keys', () => {
    expect(readContents('{"id":"item_4","type":"web_search","id":"ws_77"}\n')).toEqual([
      { id: 'ws_77', type: 'web_search' },
    ]);
  });

  it('keeps __proto__ as an ordinary key', () => {
    const [frame] = readFrames('{"type":"a","__proto__":{"admin":true}}\n');
    expect(frame?.kind === 'json' && Object.keys(frame.value)).toEqual(['type', '__proto__']);
    expect(Object.prototype).not.toHaveProperty('admin');
  });
});

describe('text', () => {
  it('is one frame per line', () => {
    expect(readContents('Reading input...\n[INFO] hello\n{ status: 429 }\n')).toEqual([
      'Reading input...',
      '[INFO] hello',
      '{ status: 429 }',
    ]);
  });

  it('keeps a value that is quoted in it, unless the engine recognizes it', () => {
    expect(readContents('failed: {"error":{"code":429}}\n')).toEqual(['failed: {"error":{"code":429}}']);
    expect(readContents('progress 50%\r{"type":"a"} done\n')).toEqual(['progress 50%\r', { type: 'a' }, ' done']);
  });

  it('is reported with its bytes if they are not ASCII', () => {
    expect(readFrames('é😀{"type":"é"}ü\n')).toMatchObject([
      { kind: 'text', from: 0, to: 6, text: 'é😀' },
      { kind: 'json', from: 6, to: 19 },
      { kind: 'text', from: 19, to: 22, text: 'ü' },
    ]);
  });

  it('is reported with its bytes if they are not UTF-8', () => {
    const bytes = Uint8Array.of(0xff, 0xc3, ...encoder.encode('{"type":1}'), 0xe4, 0xb8, 0x0a);
    expect(readFrames(bytes)).toMatchObject([
      { kind: 'text', from: 0, to: 2, encoding: 'binary' },
      { kind: 'json', from: 2, to: 12, encoding: 'binary' },
      { kind: 'text', from: 12, to: 15, encoding: 'binary' },
    ]);
  });

  it('has every line unchanged, including blank ones, if the engine prints text', () => {
    expect(readFrames('a\r\n\n{"type":"a"}', { framing: 'text' })).toMatchObject([
      { kind: 'text', text: 'a', from: 0, to: 3 },
      { kind: 'text', text: '', from: 3, to: 4 },
      { kind: 'text', text: '{"type":"a"}', from: 4, to: 16 },
    ]);
  });

  it('is one frame if a long line is damaged, but not the values around it', () => {
    const longLine = encoder.encode(`{"type":"b"} ${'x'.repeat(1 << 20)}?\n`);
    longLine[longLine.indexOf(0x3f)] = 0xff;
    const bytes = encoder.encode('{"type":\n');
    const allBytes = new Uint8Array(bytes.length + longLine.length + 13);
    allBytes.set(bytes);
    allBytes.set(longLine, bytes.length);
    allBytes.set(encoder.encode('{"type":"c"}\n'), bytes.length + longLine.length);
    for (const size of [allBytes.length, 100_000]) {
      expect(readFrames(allBytes, { size }).map(({ kind, from, to, encoding }) => [kind, from, to, encoding])).toEqual([
        ['text', 0, 9, 'utf-8'],
        ['text', 9, 9 + longLine.length, 'binary'],
        ['json', 9 + longLine.length, allBytes.length, 'utf-8'],
      ]);
    }
  });

  it('counts as too long if the limit of a run cut it, but not if it ends with a value', () => {
    const long = 'x'.repeat(16 * 1024 * 1024);
    expect(readFrames(long, { size: 1024 * 1024 })).toMatchObject([{ kind: 'text', problem: 'too_long' }]);
    expect(readFrames(`{"a":"${long}"}`, { size: 1024 * 1024 })).toMatchObject([{ kind: 'json' }]);
  });

  it('is split into chunks if a line never ends', () => {
    expect(readFrames(`${'x'.repeat(25)}\n{"type":"a"}\n`, { maxLineBytes: 12 })).toMatchObject([
      { kind: 'text', from: 0, to: 12, problem: 'too_long' },
      { kind: 'text', from: 12, to: 24, problem: 'too_long' },
      { kind: 'text', from: 24, to: 26, problem: 'too_long' },
      { kind: 'json', from: 26, to: 39 },
    ]);
  });
});

describe('an incomplete value', () => {
  it.each([
    ['in a string', '{"type":"item.comp'],
    ['in a key', '{"type":"a","it'],
    ['after a backslash', '{"type":"a\\'],
    ['after a colon', '{"a":'],
    ['after a comma', '{"type":"a",'],
    ['in a number', '{"a":12'],
    ['in a nested value', '{"a":[{"b":"c'],
    ['as a lone bracket', '['],
  ])('%s does not affect other lines', (_, torn) => {
    expect(readContents(`{"type":"x"}\n${torn}\n{"type":"b"}\n{"type":"c"}\n`)).toEqual([
      { type: 'x' },
      torn,
      { type: 'b' },
      { type: 'c' },
    ]);
  });

  it('does not affect a document after it', () => {
    expect(readContents('{"type":"it\n{\n  "session_id": "x"\n}\nafter\n')).toEqual([
      '{"type":"it',
      { session_id: 'x' },
      'after',
    ]);
  });

  it('is reported as truncated, line by line, if the document itself is incomplete', () => {
    expect(readFrames('{\n "a": 1,\n "b": tru\n{"type":"x"}\n')).toMatchObject([
      { kind: 'text', text: '{', problem: 'truncated' },
      { kind: 'text', text: ' "a": 1,' },
      { kind: 'text', text: ' "b": tru' },
      { kind: 'json', value: { type: 'x' } },
    ]);
  });

  it('is reported as truncated at the end of the stream', () => {
    expect(readFrames('{"type":"a"}\n{"type":"b')).toMatchObject([
      { kind: 'json' },
      { kind: 'text', text: '{"type":"b', problem: 'truncated', from: 13, to: 23 },
    ]);
  });

  it('is reported as too deep if it is nested endlessly', () => {
    expect(readFrames(`${'['.repeat(3000)}${']'.repeat(3000)}\n`)).toMatchObject([
      { kind: 'text', problem: 'too_deep' },
    ]);
    expect(readFrames(`{"type":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}}\n`)).toMatchObject([
      { kind: 'text', problem: 'too_deep' },
    ]);
  });
});

/** Lines that are typical or difficult for a framer, and random bytes. */
const lines = fc.array(
  fc.oneof(
    fc.constantFrom(
      '{"type":"a"}',
      '{"type":"a","text":"é😀 \\n"}',
      '{',
      '}',
      '  "key": "value",',
      '  "last": [1, 2]',
      '[',
      ']',
      '{"torn":"str',
      'text {"type":"b"} text',
      '\u001b[1m{"type":"c"}\u001b[0m',
      '[ERROR] {"a":1}',
      '',
    ),
    fc.string({ maxLength: 20 }),
  ),
  { maxLength: 30 },
);
const streams = fc.oneof(
  lines.map((texts) => encoder.encode(texts.join('\n'))),
  lines.map((texts) => encoder.encode(texts.join('\r\n'))),
  fc.uint8Array({ maxLength: 300 }),
);

describe('every stream', () => {
  it('is covered by its frames without a gap, in order', () => {
    fc.assert(
      fc.property(streams, fc.constantFrom('json' as const, 'text' as const), (bytes, framing) => {
        let position = 0;
        for (const frame of readFrames(bytes, { framing })) {
          expect(frame.from).toBe(position);
          expect(frame.to).toBeGreaterThan(frame.from);
          position = frame.to;
        }
        expect(position).toBe(bytes.length);
      }),
      { numRuns: 500 },
    );
  });

  it('has the same frames however it is split', () => {
    fc.assert(
      fc.property(
        streams,
        fc.integer({ min: 1, max: 7 }),
        fc.constantFrom(undefined, 5),
        (bytes, size, maxLineBytes) => {
          const limit = maxLineBytes === undefined ? {} : { maxLineBytes };
          expect(readFrames(bytes, { size, ...limit })).toEqual(readFrames(bytes, limit));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps every record that a damaged byte does not affect', () => {
    const records = Array.from({ length: 12 }, (_, index) => `{"type":"t${index}","text":"a \\"quoted\\" {word}"}\n`);
    const allBytes = encoder.encode(records.join(''));
    fc.assert(
      fc.property(fc.nat(allBytes.length - 1), fc.nat(255), (at, byte) => {
        const damaged = allBytes.slice();
        damaged[at] = byte;
        const frameTexts = new Set(readFrames(damaged).map(({ text }) => text));
        // A damaged line end also affects the next line.
        const undamaged = readFrames(allBytes).filter(({ from, to }) => at < from - 1 || at >= to);
        expect(undamaged.filter(({ text }) => !frameTexts.has(text))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('reads each byte a bounded number of times if no value is ever closed', () => {
    const openers = '[\n'.repeat(3000);
    expect(readFrames(openers)).toHaveLength(3000);
    expect(readFrames('{"a":\n'.repeat(3000))).toHaveLength(3000);
    expect(readFrames(`${'{"a":"'.repeat(3000)}\n`)).toHaveLength(1);
  });
});
