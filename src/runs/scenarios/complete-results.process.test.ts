import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { RunSpec } from '../../store/records/run-spec.js';
import type { RunWarning } from '../../store/records/run-result.js';
import { makeSite } from './fixtures/make-site.js';
import type { Site, Step } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const RECORDINGS = fileURLToPath(new URL('../../events/engines/', import.meta.url));
const CLAUDE_429 = `${RECORDINGS}claude/fixtures/2.1.325/e1-429-always.stream-json/stdout.1.log`;
const CODEX_401 = `${RECORDINGS}codex/fixtures/0.166.0/f3-401.json/stdout.1.log`;
const CODEX_400 = `${RECORDINGS}codex/fixtures/0.166.0/e2-429-then-400.json/stdout.1.log`;

/** An agent that prints and then hangs, in the shell: Node.js takes long to start under load, and that time counts as idle. */
function printAndHang(print: string): readonly [string, ...string[]] {
  return ['/bin/sh', '-c', `case "$*" in *--version*) echo 1.0.0 ;; *) ${print}; exec sleep 60 ;; esac`, 'agent'];
}

function command(site: Site, more: Partial<RunSpec> = {}): RunSpec {
  return { engine: 'command', command: site.agent, workdir: site.workdir, ...more };
}

async function runEngine(engine: 'claude' | 'codex', steps: readonly Step[], more: Partial<RunSpec> = {}) {
  const site = await makeSite(steps);
  const spec: RunSpec = { engine, prompt: 'Do it.', workdir: site.workdir, ...more };
  return runToEnd(spec, { ...site, programs: { [engine]: site.agent } });
}

describe('a run whose engine keeps failing', () => {
  it('names the cause when it times out', async () => {
    const site = await makeSite();
    const { result } = await runToEnd(
      { engine: 'claude', prompt: 'Do it.', workdir: site.workdir, limits: { idle_s: 2 } },
      { ...site, programs: { claude: printAndHang(`cat '${CLAUDE_429}'`) } },
    );
    expect(result).toMatchObject({
      status: 'failed',
      model: 'claude-opus-5-5',
      error: { code: 'RUN_TIMED_OUT', cause: 'rate_limit', http_status: 429 },
      diagnostics: [{ code: 'ENGINE_RATE_LIMIT_HINT', http_status: 429 }],
    });
    expect(result.error?.message).toMatch(
      /idle_s \(2 s\)\. Last engine error: .*Wait, or use another account or model\./,
    );
  });

  it('distinguishes a rejected request from rejected credentials', async () => {
    const [refused, unauthorized] = [
      await runEngine('codex', [{ play: CODEX_400 }, { exit: 1 }]),
      await runEngine('codex', [{ play: CODEX_401 }, { exit: 1 }]),
    ].map(({ result }) => result);
    expect([refused?.error?.cause, unauthorized?.error?.cause]).toEqual(['model', 'auth']);
    expect([refused?.error?.code, unauthorized?.error?.code]).toEqual(['ENGINE_RUNTIME_ERROR', 'ENGINE_AUTH_FAILED']);
    expect(refused?.diagnostics?.map(({ code }) => code)).toContain('ENGINE_ERROR');
    expect(unauthorized?.diagnostics?.map(({ code }) => code)).not.toContain('ENGINE_ERROR');
  });

  it('is stopped when its session never fits the context of the model', async () => {
    const record = (type: string, fields: object) => JSON.stringify({ type, timestamp: 1, sessionID: 's', ...fields });
    const name = 'ContextOverflowError';
    const overflow = record('error', { error: { name, data: { message: 'maximum context length is 128000' } } });
    const compacted = record('text', { part: { type: 'text', text: 'A summary', time: { end: 1 } } });
    const site = await makeSite();
    const print = `for i in 1 2 3; do echo '${overflow}'; echo '${compacted}'; done`;
    const { result } = await runToEnd(
      { engine: 'opencode', prompt: 'Do it.', workdir: site.workdir },
      { ...site, programs: { opencode: printAndHang(print) } },
    );
    expect(result).toMatchObject({ status: 'failed', error: { code: 'ENGINE_RUNTIME_ERROR', cause: 'context' } });
    expect(result.error?.message).toMatch(/again and again .*maximum context length is 128000\. Shorten the prompt/u);
  });

  it('has no cause when the engine recovered', async () => {
    const lines = [
      '{"type":"thread.started","thread_id":"t"}',
      '{"type":"error","message":"Reconnecting... 1/5 (unexpected status 429 Too Many Requests)"}',
      '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"no json"}}',
      '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}',
    ];
    const { result } = await runEngine('codex', [{ print: `${lines.join('\n')}\n` }], { contract: {} });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'OUTPUT_NOT_VALIDATED' }, text: 'no json' });
    expect(result.error).not.toHaveProperty('cause');
    expect(result.diagnostics).toMatchObject([{ code: 'ENGINE_RATE_LIMIT_HINT' }]);
  });
});

describe('the agent’s last message', () => {
  it.each([
    ['a failed run', [{ print: 'I could not.\n' }, { exit: 3 }], {}, 'failed', 'I could not.'],
    ['a run without the expected value', [{ print: 'Sorry.\n' }], { contract: {} }, 'failed', 'Sorry.'],
    ['a success', [{ print: 'Here: {"a":1}\n' }], { contract: {} }, 'success', 'Here: {"a":1}'],
    ['a comment', [{ print: 'Hm.\n' }], { contract: { profile: 'tagged' } }, 'comment', 'Hm.'],
  ] as const)('is in the result of %s', async (_name, steps, more, status, text) => {
    const site = await makeSite(steps);
    const { result } = await runToEnd(command(site, more), site);
    expect(result).toMatchObject({ status, text });
  });

  it('is in the result of a run that timed out', async () => {
    const site = await makeSite();
    const spec: RunSpec = { ...command(site, { limits: { idle_s: 2 } }), command: printAndHang('echo Wait.') };
    expect((await runToEnd(spec, site)).result).toMatchObject({ status: 'failed', text: 'Wait.' });
  });

  it('is the entire output of a command', async () => {
    const site = await makeSite([{ flood: 9_500_000, line: 9999 }, { print: 'last\n' }]);
    const { result } = await runToEnd(command(site), site);
    expect(result).toMatchObject({ status: 'success', warnings: [] });
    expect(result.text).toHaveLength(10_000_000 + 'last'.length);
    expect(result.text?.slice(-5)).toBe('\nlast');
  });

  it('is the end of output that is too long, with a warning', async () => {
    const site = await makeSite([{ flood: 18_000_000, line: 9999 }, { print: 'last\n' }]);
    const { result } = await runToEnd(command(site), site);
    expect(result.text?.endsWith('\nlast')).toBe(true);
    expect(result.text?.length).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(result.warnings).toMatchObject([{ code: 'TEXT_SHORTENED' }]);
  });
});

it('a working folder that cannot be searched completely is a warning', async () => {
  const site = await makeSite([{ print: 'no JSON' }], [{ print: '{"a": 1}' }]);
  await mkdir(join(site.workdir, 'deep/'.repeat(70)), { recursive: true });
  const { result } = await runToEnd(command(site, { contract: { schema: { type: 'object' } }, max_retries: 1 }), site);
  expect(result).toMatchObject({ attempts: 2, warnings: [{ code: 'ARTIFACTS_INCOMPLETE' }] });
});

describe('bytes that are not UTF-8', () => {
  const invalid = Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d, 0x0a]).toString('base64');

  it('in a value are a warning', async () => {
    const site = await makeSite([{ print: invalid, encoding: 'base64' }]);
    const { result } = await runToEnd(command(site, { contract: {} }), site);
    expect(result).toMatchObject({ status: 'success', value: { a: '\u{fffd}' } });
    expect(result.warnings).toMatchObject([{ code: 'INVALID_UTF8' }]);
  });

  it('in an engine’s message are reported in the same way', async () => {
    const before = '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"{\\"a\\":\\"';
    const line = Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from('\\"}"}}\n')]).toString('base64');
    const { result } = await runEngine('codex', [{ print: line, encoding: 'base64' }], { contract: {} });
    expect(result.status).toBe('success');
    expect(result.warnings.map(({ code }) => code)).toContain('INVALID_UTF8');
  });
});

describe('a warning at the start', () => {
  async function collectWarnings(engine: 'claude' | 'codex', version: string, more: Partial<RunSpec>) {
    const site = await makeSite([{ print: '{"type":"thread.started","thread_id":"t"}\n' }]);
    const [program, script] = [site.agent[0], site.agent.slice(1)];
    const warnings: RunWarning[] = [];
    const { result } = await runToEnd(
      { engine, prompt: 'Do it.', workdir: site.workdir, env: ['PLAY_*'], ...more },
      {
        ...site,
        programs: { [engine]: [program, ...script] },
        environment: { ...process.env, PLAY_VERSION: version },
        onWarning: (warning) => warnings.push(warning),
      },
    );
    expect(result.warnings).toEqual(expect.arrayContaining(warnings));
    return warnings.map(({ code }) => code);
  }

  it('reports that a cost limit has no effect', async () => {
    expect(await collectWarnings('codex', '0.166.1', { limits: { cost: 1 } })).toEqual(['COST_NOT_REPORTED']);
    expect(await collectWarnings('claude', '2.1.330', { limits: { cost: 1 } })).toEqual([]);
  });

  it('reports an untested version', async () => {
    expect(await collectWarnings('codex', '9.0.0', {})).toEqual(['UNPROVEN_VERSION']);
  });
});
