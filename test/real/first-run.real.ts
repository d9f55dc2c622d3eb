import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pack } from '../../scripts/package/pack.js';
import { PROJECT, run } from '../../scripts/run-tool.js';
import { REAL_ENGINES } from './real-engine.js';
import { prepareStage } from './stage.js';

const KEY_VARIABLE = 'OPENAI_API_KEY';

/** Includes a build, which takes minutes on a busy host. */
const BUILD_LIMIT_MS = 900_000;

it(
  "drives a real agent with README's commands in an empty folder",
  async () => {
    const { codex } = REAL_ENGINES;
    const built = await run('npm', ['run', '--silent', 'build:changed'], PROJECT);
    expect(built).toMatchObject({ exitCode: 0 });
    const configure = (url: string) => {
      const [[path, text]] = Object.entries(codex.homeFiles(url)) as [[string, string]];
      return { [path]: text.replace('MOCK_API_KEY', KEY_VARIABLE) };
    };
    const answer = '```json\n{"artifacts": ["artifacts/text.md"]}\n```';
    const stage = await prepareStage(
      { ...codex, environment: () => ({ [KEY_VARIABLE]: 'scripted-model-key' }) },
      () => [{ toolCalls: [codex.writeFile('artifacts/text.md', 'written')] }, { content: answer }],
      { homeFiles: configure },
    );
    try {
      mkdirSync(join(stage.root, 'sluice'));
      await pack(PROJECT, join(stage.root, 'sluice'));
      const readme = await readFile(join(PROJECT, 'README.md'), 'utf8');
      const section = readme.split('\n## Run an agent\n')[1]?.split('\n## ')[0] ?? '';
      const [install, live] = [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, code]) => code ?? '');
      // npm also needs its own settings, for example the registry.
      const variables = Object.entries({ ...stage.ports.environment, npm_config_audit: 'false' });
      const given = variables.map(([name, value]) => `${name}=${value}`);
      const runInShell = async (script = '') => run('env', [...given, 'bash', '-uc', script], stage.workdir);
      expect((await runInShell(install)).stdout).toContain('"engine":"codex"');
      const started = Date.now();
      const ran = await runInShell(live);
      process.stdout.write(`the live run of README took ${Date.now() - started} ms\n`);
      expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('● codex, session') as string });
      expect(JSON.parse(ran.stdout)).toMatchObject({
        status: 'success',
        value: { artifacts: ['artifacts/text.md'] },
        artifacts: { created: ['artifacts/text.md'] },
        sandbox: { used: true },
      });
    } finally {
      await stage.remove();
    }
  },
  BUILD_LIMIT_MS,
);
