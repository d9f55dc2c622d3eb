import { describe, expect, it } from 'vitest';
import { createMemoryIo, type MemoryIo } from '../fixtures/memory-io.js';
import { MAX_INPUT_BYTES } from '../read-input.js';
import { run } from '../run.js';

const ISSUE_SCHEMA = JSON.stringify({
  type: 'object',
  required: ['file', 'line'],
  properties: { file: { type: 'string' }, line: { type: 'integer', minimum: 1 } },
});

async function parseCommand(
  text: string | Uint8Array,
  args: readonly string[] = [],
  files: Record<string, string> = {},
) {
  const io = createMemoryIo({ 'issue.json': ISSUE_SCHEMA, ...files }, { stdin: text });
  const exitCode = await run(['parse', ...args], io);
  return { exitCode, output: readOutput(io), stderr: io.printed.stderr };
}

function readOutput({ printed }: MemoryIo): unknown {
  return printed.stdout === '' ? undefined : JSON.parse(printed.stdout);
}

describe('sluice parse', () => {
  it('prints the value of valid JSON unchanged, without repairs', async () => {
    expect(await parseCommand('{"a":[1,2]}')).toEqual({
      exitCode: 0,
      stderr: '',
      output: {
        status: 'success',
        value: { a: [1, 2] },
        repair_level: 'none',
        repairs: [],
        warnings: [],
        candidate: { finder: 'whole', start: 0, end: 11 },
      },
    });
  });

  it('prints only the value with --value', async () => {
    const { exitCode, output, stderr } = await parseCommand('Sure: {"a": 1,}', ['--value']);
    expect([exitCode, output, stderr]).toEqual([0, { a: 1 }, '']);
  });

  it.each([
    ['{"a": [1, 2', [], 'TRUNCATED', '--allow-partial'],
    ['{"file": "a.ts", "line": "3"}', ['--schema', 'issue.json'], 'SCHEMA_MISMATCH', '--align'],
    ['{"a": 1} or {"a": 2}', [], 'AMBIGUOUS', '--ambiguous'],
  ])(
    'with --value writes the reason for a missing value to standard error, with the option that might help: %s',
    async (text, args, code, option) => {
      const { exitCode, output, stderr } = await parseCommand(text, ['--value', ...args]);
      expect([exitCode, output]).toEqual([1, undefined]);
      expect(stderr).toContain(`${code}: `);
      expect(stderr).toContain(option);
      const { output: detailedOutput } = await parseCommand(text, args);
      expect(detailedOutput).toMatchObject({ error: { code } });
      // The advice is part of the message, or a hint, but not both.
      expect(JSON.stringify(detailedOutput).split(option)).toHaveLength(2);
    },
  );

  it('treats a comment as a failure with --value', async () => {
    const { exitCode, stderr } = await parseCommand('not yet', ['--value', '--profile', 'tagged']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('NO_JSON: No <json> block found.');
  });

  it('reads the given file', async () => {
    const { exitCode, output } = await parseCommand('', ['answer.txt'], { 'answer.txt': '{"a":1}' });
    expect(exitCode).toBe(0);
    expect(output).toMatchObject({ status: 'success', value: { a: 1 } });
  });

  it('reports the repairs, the position of the value, and a warning', async () => {
    const { exitCode, output } = await parseCommand('Here you are: {file: "a.ts", "line": 3,} Bye.', [
      '--schema',
      'issue.json',
    ]);
    expect(exitCode).toBe(0);
    expect(output).toMatchObject({
      status: 'success',
      value: { file: 'a.ts', line: 3 },
      repair_level: 'deterministic_generic',
      repairs: expect.arrayContaining([
        expect.objectContaining({ kind: 'extracted' }),
        expect.objectContaining({ kind: 'unquoted_key' }),
        expect.objectContaining({ kind: 'extra_comma' }),
      ]),
      warnings: [expect.objectContaining({ code: 'OUTPUT_REPAIRED_GENERIC' })],
      candidate: { finder: 'prose' },
    });
  });

  it('exits with 1 and prints the issues but not the value if the schema rejects it', async () => {
    const { exitCode, output } = await parseCommand('{"file": "a.ts", "line": 0}', [
      '--schema',
      'issue.json',
      '--label',
      'review',
    ]);
    expect(exitCode).toBe(1);
    expect(output).toMatchObject({
      status: 'failed',
      repair_level: 'none',
      repairs: [],
      error: {
        code: 'SCHEMA_MISMATCH',
        message: expect.stringContaining('review'),
        issues: [expect.objectContaining({ path: ['line'] })],
      },
    });
    expect(output).not.toHaveProperty('value');
  });

  it('exits with 1 if the input contains no JSON or is empty', async () => {
    expect(await parseCommand('I could not do it.')).toMatchObject({
      exitCode: 1,
      output: { error: { code: 'NO_JSON' } },
    });
    expect(await parseCommand('')).toMatchObject({ exitCode: 1, output: { error: { code: 'EMPTY_INPUT' } } });
  });

  it('prints an untagged answer as a comment in profile tagged, with exit code 0', async () => {
    const { exitCode, output } = await parseCommand('All fine.', ['--profile', 'tagged']);
    expect(exitCode).toBe(0);
    expect(output).toMatchObject({
      status: 'comment',
      comment: 'All fine.',
      repair_level: 'none',
      warnings: [expect.objectContaining({ code: 'OUTPUT_DEGRADED_TO_COMMENT' })],
    });
  });

  it('accepts a truncated value only with --allow-partial', async () => {
    const truncated = '<json>{"a":1';
    expect(await parseCommand(truncated, ['--profile', 'tagged'])).toMatchObject({
      exitCode: 1,
      output: { error: { code: 'TRUNCATED' } },
    });
    expect(await parseCommand(truncated, ['--profile', 'tagged', '--allow-partial'])).toMatchObject({
      exitCode: 0,
      output: {
        value: { a: 1 },
        warnings: expect.arrayContaining([expect.objectContaining({ code: 'PARTIAL_VALUE' })]),
      },
    });
  });

  it('uses the value that --ambiguous selects', async () => {
    const twoObjects = 'First {"file":"a","line":1} then {"file":"b","line":2}.';
    for (const [which, file] of [
      ['first', 'a'],
      ['last', 'b'],
    ] as const) {
      const { output } = await parseCommand(twoObjects, ['--ambiguous', which, '--schema', 'issue.json']);
      expect(output).toMatchObject({ value: { file } });
    }
  });

  it('prints large integers unchanged with --numbers bigint', async () => {
    const io = createMemoryIo({}, { stdin: '{"id":12345678901234567890}' });
    expect(await run(['parse', '--numbers', 'bigint'], io)).toBe(0);
    expect(io.printed.stdout).toContain('"value":{"id":12345678901234567890}');
  });

  it('ignores a byte order mark, and replaces invalid UTF-8', async () => {
    const text = Uint8Array.of(0xef, 0xbb, 0xbf, ...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}'));
    expect(await parseCommand(text)).toMatchObject({
      exitCode: 0,
      output: { value: { a: '\uFFFD' }, repair_level: 'none' },
    });
  });

  it.each(['{"a":', '['])('reports a typed error for valid JSON with 100,000 levels of %s', async (opening) => {
    const deepJson = opening.repeat(100_000) + '1' + (opening === '[' ? ']' : '}').repeat(100_000);
    for (const args of [[], ['--schema', 'issue.json'], ['--numbers', 'bigint']]) {
      expect(await parseCommand(deepJson, args)).toMatchObject({
        exitCode: 1,
        output: { error: { code: 'LIMIT_EXCEEDED' } },
      });
    }
  });

  it('stops reading at the byte limit with an error', async () => {
    const block = new Uint8Array(1024 * 1024).fill(0x20);
    const endlessInput = {
      isTerminal: false,
      async *[Symbol.asyncIterator]() {
        for (;;) yield block;
      },
    };
    const io = { ...createMemoryIo({}), openStdin: () => endlessInput };
    expect(await run(['parse', '--label', 'agent'], io)).toBe(1);
    expect(readOutput(io)).toMatchObject({
      error: {
        code: 'LIMIT_EXCEEDED',
        message: expect.stringMatching(new RegExp(`^agent: .*${MAX_INPUT_BYTES} bytes`)),
      },
    });
  });

  it('indents the output at a terminal', async () => {
    const io = createMemoryIo({ a: '{"a":1}' }, { isTerminal: true });
    await run(['parse', 'a'], io);
    expect(io.printed.stdout).toContain('\n  "status": "success",\n');
  });

  it.each([
    ['an unknown option', ['--shema', 'x'], '--shema'],
    ['an unknown profile', ['--profile', 'strict'], 'default, generic, tagged, unified'],
    ['a missing file', ['gone.txt'], '"gone.txt": no such file'],
    ['a missing schema', ['--schema', 'gone.json'], '"gone.json": no such file'],
    ['a schema that is not JSON', ['--schema', 'broken.json'], '"broken.json" is not valid JSON'],
    ['an invalid schema', ['--schema', 'wrong.json'], '"wrong.json" is not a valid JSON Schema'],
    ['a schema on standard input', ['--schema', '-'], '--schema cannot be read from standard input'],
    ['--align without a schema', ['--align'], '--schema'],
    ['two files', ['a', 'b'], 'Too many arguments'],
  ])('exits with 2 and an error message: %s', async (_, args, message) => {
    const { exitCode, output, stderr } = await parseCommand('{}', args, {
      'broken.json': '{',
      'wrong.json': '{"type": 3}',
    });
    expect(exitCode).toBe(2);
    expect(output).toBeUndefined();
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
