import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { makeCampaigns } from '../scripts/torture/campaigns.js';
import { SLOW_FILES } from './by-project.js';

const sources = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
);
const campaigns = makeCampaigns({ damages: 1, rounds: 1, seconds: 1, minutes: 1 });

describe('test files that are named elsewhere', () => {
  it.each(campaigns.flatMap(({ files }) => files))('exist for npm run torture: %s', (beginning) => {
    expect(sources.filter((file) => file.startsWith(beginning) && file.endsWith('.test.ts'))).not.toEqual([]);
  });

  it.each(SLOW_FILES)('exist in the list of slow files: %s', (file) => {
    expect(sources).toContain(file);
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
