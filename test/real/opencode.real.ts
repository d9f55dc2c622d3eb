import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeEngine } from './describe-engine.js';
import { REAL_ENGINES } from './real-engine.js';
import { runScenario, SCENARIOS } from './scenarios.js';

describeEngine(REAL_ENGINES.opencode);

it("opencode is not started if it would load the folder's plug-ins", async () => {
  const { stage, played } = await runScenario(REAL_ENGINES.opencode, {
    ...SCENARIOS.plain,
    files: (_, { root }) => ({
      '.opencode/plugin/trap.js': `require('node:fs').writeFileSync(${JSON.stringify(join(root, 'sprung'))}, '');`,
    }),
  });
  onTestFinished(async () => stage.remove());
  expect(played.result).toMatchObject({ status: 'failed', error: { code: 'PROCESS_NOT_STARTED' } });
  expect(played.result.error?.message).toContain('.opencode/plugin');
  expect(existsSync(join(stage.root, 'sprung'))).toBe(false);
});
