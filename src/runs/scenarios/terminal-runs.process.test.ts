import { expect, it } from 'vitest';
import { codex } from '../../events/contract/translate-lines.contract.js';
import { makeSite } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const LINE = { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] };

it('a process in a terminal is captured with the terminal output', async () => {
  const site = await makeSite([{ print: 'So: {"line":3}\n' }]);
  const spec = { engine: 'command', command: site.agent, workdir: site.workdir, terminal: true } as const;
  const { result, file } = await runToEnd({ ...spec, contract: { schema: LINE } }, site);
  expect(result).toMatchObject({ status: 'success', value: { line: 3 } });
  expect(await file('pty-output.1.log')).toContain('So: {"line":3}\r\n');
  expect(await file('stdout.1.log')).toBe('');
});

it('an engine in a terminal is read as usual', async () => {
  const records = [codex.thread('t-1'), codex.message('{"line":3}'), codex.completed()];
  const site = await makeSite([{ print: records.map((record) => `${JSON.stringify(record)}\n`).join('') }]);
  const spec = { engine: 'codex', prompt: 'Count.', workdir: site.workdir, terminal: true } as const;
  const { result } = await runToEnd(
    { ...spec, contract: { schema: LINE } },
    { ...site, programs: { codex: site.agent } },
  );
  expect(result).toMatchObject({ status: 'success', value: { line: 3 }, session_id: 't-1' });
  const [call] = await site.calls();
  expect(call?.args.at(-1)).toContain('Count.');
});

it.each([
  ['requested, restores what stdout lost, live', { terminal: 'beside' }, 'terminal'],
  ['of codex by default, restores what stdout lost, live', {}, 'terminal'],
  ['requested, restores what stdout lost, at the end of the output', { terminal: 'beside' }, 'stdout'],
] as const)('a terminal besides the pipes, %s and in the result', async (_, terminal, endsOn) => {
  const print = (record: object, on: 'stdout' | 'terminal') => ({ print: `${JSON.stringify(record)}\n`, on });
  const site = await makeSite([
    print(codex.thread('t-1'), 'stdout'),
    print(codex.thread('t-1'), 'terminal'),
    print(codex.message('{"line":3}'), 'terminal'),
    print(codex.completed(), 'stdout'),
    // Only this shows that stdout has passed the lost message.
    ...(endsOn === 'terminal' ? [print(codex.completed(), 'terminal')] : []),
  ]);
  const spec = { engine: 'codex', prompt: 'Count.', workdir: site.workdir, ...terminal } as const;
  const { result, file, fcmp } = await runToEnd(
    { ...spec, contract: { schema: LINE } },
    { ...site, programs: { codex: site.agent } },
  );
  expect(result).toMatchObject({ status: 'success', value: { line: 3 }, session_id: 't-1' });
  expect(await file('stdout.1.log')).not.toContain('agent_message');
  expect(await file('pty-output.1.log')).toContain('agent_message');
  const restoredMessage = fcmp.find(({ type }) => type === 'assistant.message.final');
  expect(restoredMessage?.raw_ref).toMatchObject({ stream: 'pty' });
  const codes = fcmp.flatMap(({ type, data }) => (type === 'diagnostic.warning' && 'code' in data ? [data.code] : []));
  expect(codes).toContain('PTY_STREAM_MISMATCH');
});

it('an engine without messages that only a terminal shows has none by default, nor does codex if it is refused', async () => {
  const step = { print: 'no terminal\n', on: 'terminal' } as const;
  for (const spec of [{ engine: 'opencode' }, { engine: 'codex', terminal: false }] as const) {
    const site = await makeSite([step]);
    const { result } = await runToEnd(
      { ...spec, prompt: 'Count.', workdir: site.workdir },
      { ...site, programs: { [spec.engine]: site.agent } },
    );
    expect(result.status).toBe('failed');
  }
});

it('an empty terminal besides the pipes changes nothing', async () => {
  const records = [codex.thread('t-1'), codex.message('{"line":3}'), codex.completed()];
  const site = await makeSite([{ print: records.map((record) => `${JSON.stringify(record)}\n`).join('') }]);
  const spec = { engine: 'codex', prompt: 'Count.', workdir: site.workdir, terminal: 'beside' } as const;
  const { result, types } = await runToEnd(
    { ...spec, contract: { schema: LINE } },
    { ...site, programs: { codex: site.agent } },
  );
  expect(result).toMatchObject({ status: 'success', value: { line: 3 } });
  expect(types).not.toContain('diagnostic.warning');
});
