import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunSpec } from '../../src/store/records/run-spec.js';
import { expectSound } from './expect-sound.js';
import { play, prepareStage, type Act, type ScenarioRun } from './stage.js';

const RECORDINGS = new URL('../../src/events/engines/iflow/fixtures/0.5.19/', import.meta.url);
const REPLAYER = fileURLToPath(new URL('./replayer/replayer.js', import.meta.url));

const SCHEMA = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] };

/** Runs the replayer with a recording of iFlow. */
async function replay(recording: string, spec: Partial<RunSpec>, act?: Act): Promise<ScenarioRun> {
  const folder = fileURLToPath(new URL(`${recording}.text`, RECORDINGS));
  const iflow = { engine: 'iflow', homeFiles: () => ({}), environment: () => ({ IFLOW_REPLAY: folder }) } as const;
  const stage = await prepareStage(iflow, 'no model');
  onTestFinished(async () => stage.remove());
  const programs = { iflow: [process.execPath, '--import', import.meta.resolve('tsx'), REPLAYER] };
  const played = await play({ ...stage, ports: { ...stage.ports, programs } }, { prompt: 'Go on.', ...spec }, act);
  await expectSound(played, stage);
  return played;
}

describe('iflow, replayed', () => {
  it('answers', async () => {
    const { result } = await replay('a-plain', {});
    expect(result).toMatchObject({ status: 'success', session_id: 'session-5c1f0a52-77aa-4c7e-9d0e-2f4f6f1d7b10' });
  });

  it.each(['b-fenced-json', 'e1-429-then-answer'])('returns a validated value (%s)', async (recording) => {
    const { result } = await replay(recording, { contract: { schema: SCHEMA } });
    expect(result).toMatchObject({ status: 'success', value: { title: 'Notes', word_count: 2, artifacts: [] } });
  });

  it('fails with the error it printed', async () => {
    const { result } = await replay('e2-api-error', {});
    expect(result.status).toBe('failed');
  });

  it('ends when it is canceled midway', async () => {
    const { result, fcmp } = await replay('g1-sigterm-stream', {}, async (run, event) => {
      if (event !== undefined) return;
      await sleep(1500);
      await run.cancel();
    });
    expect(result.status).toBe('canceled');
    expect(fcmp.at(-1)).toMatchObject({ data: { error: { category: 'canceled' } } });
  });

  it('resumes its session when its question is answered', async () => {
    const spec = { mode: 'interactive', contract: { schema: SCHEMA } } as const;
    const { result } = await replay('h-resume', spec, async (run, event) => {
      if (event?.type === 'user.input.required') await run.reply('English');
    });
    expect(result).toMatchObject({ status: 'success', attempts: 2, value: { title: 'Notes' } });
  });
});
