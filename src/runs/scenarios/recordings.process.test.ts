import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { RunEngine, RunSpec } from '../../store/records/run-spec.js';
import { makeSite } from './fixtures/make-site.js';
import type { Step } from './fixtures/make-site.js';
import { runToEnd } from './run.contract.js';

const ENGINES = fileURLToPath(new URL('../../events/engines/', import.meta.url));

/** The recording of a scenario in the format requested by the launchers. */
function findRecording(engine: string, scenario: string): string {
  const versions = join(ENGINES, engine, 'fixtures');
  const paths = readdirSync(versions, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes(scenario));
  for (const format of ['stream-json', 'json', 'text']) {
    const folder = paths.find((path) => path.endsWith(`${scenario}.${format}`));
    if (folder !== undefined) return join(versions, folder);
  }
  throw new Error(`no recording of ${scenario} by ${engine}`);
}

/** Lists the steps that replay the real agent: its bytes in chunks, then its exit. */
function listSteps(recording: string, attempt = 1): Step[] {
  const meta = JSON.parse(readFileSync(join(recording, `meta.${attempt}.json`), 'utf8')) as {
    exit_code: number | null;
  };
  const print = (on: 'stdout' | 'stderr'): Step[] => {
    const path = join(recording, `${on}.${attempt}.log`);
    return existsSync(path) ? [{ play: path, on, piece: 777, pause: 1 }] : [];
  };
  return [
    ...print('stderr'),
    ...print('stdout'),
    meta.exit_code === null ? { kill: 'SIGTERM' } : { exit: meta.exit_code },
  ];
}

async function play(engine: RunEngine, scenario: string, more: Partial<RunSpec> = {}, attempts: number[] = [1]) {
  const recording = findRecording(engine, scenario);
  const site = await makeSite(...attempts.map((attempt) => listSteps(recording, attempt)));
  const spec: RunSpec = { engine, prompt: 'Do it.', workdir: site.workdir, ...more };
  const ended = await runToEnd(
    spec,
    { ...site, programs: { [engine]: site.agent } },
    {
      replies: attempts.slice(1).map(() => 'Go on.'),
      // Questions after the last recorded answer stay unanswered.
      onEvent: (event, run) => {
        if (event.type !== 'user.input.required' || event.data.answerable === false) return;
        if (event.meta.attempt === attempts.length) void run.cancel();
      },
    },
  );
  return { ...ended, site };
}

const NOTES = {
  type: 'object',
  properties: { title: { type: 'string' }, word_count: { type: 'integer' } },
  required: ['title', 'word_count'],
};

describe.each(['codex', 'gemini', 'iflow', 'opencode', 'claude', 'qwen'] as const)('%s, as recorded', (engine) => {
  it('returns the value of its last message', async () => {
    const { result, meta } = await play(engine, 'b-fenced-json', { contract: { schema: NOTES } });
    expect(result).toMatchObject({ status: 'success', value: { title: 'Notes' } });
    expect(result.value).not.toHaveProperty('__SKILL_DONE__');
    expect(result.session_id).toEqual(expect.any(String));
    expect(await meta(1)).toMatchObject({ engine, version: '1.0.0', verdict: 'validated' });
  });

  it('ends cleanly without a contract', async () => {
    const { result } = await play(engine, 'a-plain');
    expect(result).toMatchObject({ status: 'success', text: expect.any(String) as string });
  });

  it('is resumed with a reply', async () => {
    const { result, site, types } = await play(engine, 'h-resume', { mode: 'interactive' }, [1, 2]);
    expect(types.filter((type) => type === 'user.input.replied')).toHaveLength(1);
    expect(types.filter((type) => type === 'conversation.started')).toHaveLength(1);
    expect(result.attempts).toBeGreaterThanOrEqual(2);
    const [, second] = await site.calls();
    expect(`${second?.input ?? ''} ${second?.args.join(' ') ?? ''}`).toContain('Go on.');
    expect(second?.args.some((word) => word.includes(result.session_id ?? '?'))).toBe(true);
  });

  it('has failed if interrupted', async () => {
    const { result } = await play(engine, 'g1-sigterm-stream', { contract: { schema: NOTES } });
    expect(result).toMatchObject({ status: 'failed', repair_level: 'none' });
  });
});

describe.each(['codex', 'gemini', 'opencode', 'claude', 'qwen', 'copilot'] as const)(
  '%s with an error, as recorded',
  (engine) => {
    it.each(['f1-500-always', 'e2-429-then-400'])('has failed after %s', async (scenario) => {
      const { result } = await play(engine, scenario, { contract: { schema: NOTES } });
      const { result: without } = await play(engine, scenario);
      expect([result.status, without.status]).toEqual(['failed', 'failed']);
      expect(result.error?.cause).toBe(without.error?.cause);
    });

    it('has the same code with and without a schema if the engine reported why it failed', async () => {
      const { result } = await play(engine, 'e2-429-then-400', { contract: { schema: NOTES } });
      const { result: without } = await play(engine, 'e2-429-then-400');
      for (const { error } of [result, without]) expect(error?.code).toBe('ENGINE_RUNTIME_ERROR');
    });
  },
);

it.each(['codex', 'gemini', 'opencode', 'claude', 'qwen'] as const)(
  '%s with rejected credentials fails with the same code and cause, with and without a schema',
  async (engine) => {
    for (const more of [{}, { contract: { schema: NOTES } }]) {
      const { result } = await play(engine, 'f3-401', more);
      expect(result).toMatchObject({ status: 'failed', error: { code: 'ENGINE_AUTH_FAILED', cause: 'auth' } });
      expect(result.error?.http_status).toBe(401);
    }
  },
);
