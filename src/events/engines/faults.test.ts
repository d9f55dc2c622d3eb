import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toBytes } from '../contract/translate-lines.contract.js';
import { createTranslator } from '../index.js';

interface Recording {
  readonly exit_code: number | null;
  readonly stdout: readonly (object | string)[];
  readonly stderr: readonly string[];
}

/** Records of real agents whose model failed in one way at every request, without those that do not matter here. */
const RECORDINGS = JSON.parse(readFileSync(new URL('./fixtures/faults.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, Recording>>>
>;

const CAUSES: Readonly<Record<string, string>> = {
  '401': 'auth',
  '403': 'permission',
  '429': 'rate_limit',
  '500': 'server',
  cut: 'network',
  context: 'context',
  model: 'model',
  quota: 'quota',
};

describe.each(Object.entries(RECORDINGS))('%s', (engine, faults) => {
  it.each(Object.entries(faults))('reports the code and cause of %s, with and without a schema', (fault, recording) => {
    const { exit_code: exitCode, stdout, stderr } = recording;
    const cause = CAUSES[fault];
    for (const verdict of ['no_contract', 'not_validated'] as const) {
      const translator = createTranslator({ engine, runId: 'r', attempt: 1 });
      translator.push('stderr', toBytes(stderr));
      translator.push('stdout', toBytes(stdout));
      const { event } = translator.end({ exitCode, signal: null, verdict, reason: 'No JSON.' }).at(-1) ?? {};
      expect(event).toMatchObject({
        type: 'conversation.failed',
        data: { error: { code: cause === 'auth' ? 'ENGINE_AUTH_FAILED' : 'ENGINE_RUNTIME_ERROR', cause } },
      });
    }
  });
});
