import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { arbitraryCut } from '../../events/contract/damage.contract.js';
import { createTranslator } from '../../events/index.js';
import type { Emitted } from '../../events/index.js';
import { AcpClient } from './acp-client.js';
import type { AgentClient, AgentClientPorts, AgentRequest } from './agent-client.js';
import { AppServerClient } from './app-server-client.js';
import { StreamJsonClient } from './stream-json-client.js';

const REQUEST = { prompt: '', workdir: '/workspace', sessionId: null, keepMode: false } as const;
const FIXTURES = '../../events/engines';

type Limits = Pick<AgentRequest, 'handshakeMs'>;

const CASES = [
  [
    'acp',
    'acp/fixtures/opencode-1.18.18/permission',
    (ports: AgentClientPorts, limits?: Limits) => new AcpClient({ ...REQUEST, ...limits }, ports),
  ],
  [
    'claude',
    'claude/fixtures/2.1.325/p-permission.stream-json-input',
    (ports: AgentClientPorts, limits?: Limits) => new StreamJsonClient('claude', { ...REQUEST, ...limits }, ports),
  ],
  [
    'qwen',
    'qwen/fixtures/0.24.4/p-permission.stream-json-input',
    (ports: AgentClientPorts, limits?: Limits) => new StreamJsonClient('qwen', { ...REQUEST, ...limits }, ports),
  ],
  [
    'codex',
    'codex/fixtures/0.166.0/p-permission.app-server',
    (ports: AgentClientPorts, limits?: Limits) => new AppServerClient({ ...REQUEST, ...limits }, ports),
  ],
] as const;

/** Runs a conversation with recorded bytes, and translates both directions as they arrive. */
function runConversation(
  engine: string,
  create: (ports: AgentClientPorts) => AgentClient,
  chunks: readonly Uint8Array[],
) {
  const translator = createTranslator({ engine, runId: 'r', attempt: 1, mode: 'auto', clock: () => 0 });
  const events: Emitted[] = [];
  const requestNumbers: number[] = [];
  const ends: string[] = [];
  let sent = 0;
  let hasEnded = false;
  const client = create({
    send(message) {
      sent += 1;
      if (!hasEnded) events.push(...translator.push('stdin', Buffer.from(`${JSON.stringify(message)}\n`)));
    },
    onPermission: (number) => requestNumbers.push(number),
    onWithdrawn: () => undefined,
    readFile: async () => '',
    writeFile: async () => undefined,
    onEnd: () => ends.push('end'),
    onFailure: ({ verdict }) => ends.push(verdict),
  });
  client.start('Do it.');
  for (const chunk of chunks) {
    if (ends.length > 0) break;
    events.push(...translator.push('stdout', chunk));
    client.receive(chunk);
    for (const number of requestNumbers) client.answer(number, null, { by: 'rule', why: 'no' });
  }
  client.close();
  // Files for an agent are written asynchronously, so messages can still be sent after the end.
  hasEnded = true;
  events.push(...translator.end({ exitCode: 0, signal: null }));
  const count = (type: string): number =>
    events.filter(({ protocol, event }) => protocol === 'fcmp' && event.type === type).length;
  return { requestNumbers, ends, sent, required: count('permission.required'), replied: count('permission.replied') };
}

/** Damages lines: each is dropped, repeated, truncated or replaced. */
const arbitraryLines = (lines: readonly string[]) =>
  fc
    .array(
      fc.record({
        at: fc.nat({ max: lines.length - 1 }),
        kind: fc.constantFrom('drop', 'repeat', 'cut', 'garbage', 'swap'),
        text: fc.string({ maxLength: 20 }),
      }),
      { maxLength: 4 },
    )
    .map((damages) => {
      const damagedLines = [...lines];
      for (const { at, kind, text } of damages) {
        const line = damagedLines[at] ?? '';
        if (kind === 'drop') damagedLines[at] = '';
        if (kind === 'repeat') damagedLines[at] = `${line}\n${line}`;
        if (kind === 'cut') damagedLines[at] = line.slice(0, line.length / 2);
        if (kind === 'garbage') damagedLines[at] = `${text}${line}`;
        if (kind === 'swap') damagedLines[at] = damagedLines[(at * 7) % damagedLines.length] ?? '';
      }
      return Buffer.from(`${damagedLines.join('\n')}\n`);
    });

describe.each(CASES)('the client of %s', (engine, fixture, create) => {
  const read = async () => readFile(new URL(`${FIXTURES}/${fixture}/stdout.1.log`, import.meta.url), 'utf8');

  it("and the recording's reader agree on every request, for any split and any damage", async () => {
    const lines = (await read()).trimEnd().split('\n');
    fc.assert(
      fc.property(arbitraryLines(lines), arbitraryCut(), (bytes, cut) => {
        const { requestNumbers, ends, sent, required, replied } = runConversation(engine, create, cut(bytes));
        expect(ends.length).toBeLessThanOrEqual(1);
        expect(sent).toBeLessThan(20);
        expect(requestNumbers).toEqual(requestNumbers.map((_, index) => index + 1));
        // After the end, the rest of the chunk is read but not answered.
        expect(requestNumbers.length).toBeLessThanOrEqual(required);
        expect(ends.length > 0 || requestNumbers.length === required).toBe(true);
        expect(replied).toBeLessThanOrEqual(required);
      }),
      { numRuns: 200 },
    );
  });

  it('fails if an agent does not respond to its first request in time', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const broken: string[] = [];
    const ignore = (): undefined => undefined;
    const client = create(
      {
        send: ignore,
        onPermission: ignore,
        onWithdrawn: ignore,
        readFile: async () => '',
        writeFile: async () => undefined,
        onEnd: ignore,
        onFailure: ({ reason }) => broken.push(reason),
      },
      { handshakeMs: 5000 },
    );
    client.start('Do it.');
    vi.advanceTimersByTime(4999);
    expect(broken).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(broken).toEqual(['The agent violated the protocol: it did not respond to initialize within 5 s.']);
  });

  it('tolerates bytes that are not messages', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), arbitraryCut(), (bytes, cut) => {
        expect(runConversation(engine, create, cut(bytes))).toMatchObject({ requestNumbers: [], required: 0 });
      }),
      { numRuns: 50 },
    );
  });
});
