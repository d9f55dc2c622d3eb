import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PROJECT, run } from '../scripts/run-tool.js';
import { makeCampaigns } from '../scripts/torture/campaigns.js';
import { SLOW_FILES } from './by-project.js';

const listFiles = (folder: string) =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules'))
    .map((file) => `${folder}/${file}`);
const sources = ['src', 'test'].flatMap(listFiles);
const campaigns = makeCampaigns({ damages: 1, rounds: 1, seconds: 1, minutes: 1 });

describe('test files that are named elsewhere', () => {
  it.each(campaigns.flatMap(({ files }) => files))('exist for npm run torture: %s', (beginning) => {
    expect(sources.filter((file) => file.startsWith(beginning) && file.endsWith('.test.ts'))).not.toEqual([]);
  });

  it.each(SLOW_FILES)('exist in the list of slow files: %s', (file) => {
    expect(sources).toContain(file);
  });
});

describe('test files', () => {
  it('each belong to one project, and each project is run by a command of .ci/run', async () => {
    const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
    const { stdout } = await run(process.execPath, [vitest, 'list', '--filesOnly', '--json'], PROJECT);
    const listed = z.array(z.object({ file: z.string(), projectName: z.string() })).parse(JSON.parse(stdout));
    const files = [...sources, ...listFiles('web')].filter((file) => file.endsWith('.test.ts'));
    expect(listed.map(({ file }) => relative(PROJECT, file)).toSorted()).toEqual(files.toSorted());
    const [ci, commands, everyday, short] = ['.ci/run', 'package.json', 'scripts/test.ts', 'scripts/torture.ts'].map(
      (file) => readFileSync(join(PROJECT, file), 'utf8'),
    );
    for (const name of new Set(listed.map(({ projectName }) => projectName))) {
      const isRun =
        everyday?.includes(`'${name}'`) === true ||
        short?.includes(`'${name}'`) === true ||
        (commands?.includes(`--project ${name}"`) === true && ci?.includes(`test:${name}\n`) === true);
      expect({ name, isRun }).toEqual({ name, isRun: true });
    }
  });
});

describe('the settings of npm run torture', () => {
  const texts = sources
    .filter((file) => /\.(?:test|contract)\.ts$/.test(file))
    .map((file) => readFileSync(join(PROJECT, file), 'utf8'));

  it.each(campaigns.flatMap(({ settings }) => Object.keys(settings)))('are read by a test: %s', (name) => {
    expect(texts.some((text) => text.includes(`process.env['${name}']`))).toBe(true);
  });
});
