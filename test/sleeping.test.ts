import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { findSleeping } from './find-sleeping.js';

/** Files that test time itself, with the maximum number of sleeps and the reason. */
const ALLOWED: Readonly<Record<string, { readonly times: number; readonly why: string }>> = {
  'src/orders/dispatch/start-worker.process.test.ts': { times: 1, why: 'lets workers poll for some time' },
  'src/store/sqlite/database.test.ts': { times: 1, why: 'holds a lock for some time' },
  'src/runs/scenarios/stops.process.test.ts': { times: 1, why: 'no event shows that a run waits for a folder' },
  'src/orders/dispatch/lead-killed.campaign.test.ts': { times: 1, why: 'kills at a random time' },
  'src/runs/process/launch-process.process.test.ts': { times: 3, why: 'readers that start late or pause' },
  'src/runs/scenarios/kill.campaign.test.ts': { times: 1, why: 'kills at a random time' },
  'src/server/server-killed.campaign.test.ts': { times: 5, why: 'kills at random times, at a fixed load' },
  'src/server/stream/follow.test.ts': { times: 1, why: 'draws random pauses between events' },
  'src/store/contract/kill.contract.ts': { times: 1, why: 'kills at a random time' },
  'test/deploy/patroni.test.ts': { times: 1, why: 'clients that submit again after a pause' },
  'test/postgres/fleet.campaign.test.ts': {
    times: 5,
    why: 'measures an idle fleet for some time, orders at a fixed rate, and kills in a busy fleet',
  },
  'test/postgres/server-killed.campaign.test.ts': { times: 1, why: 'kills at a random time' },
  'test/postgres/soak.campaign.test.ts': { times: 5, why: 'a fixed load, with kills and outages at intervals' },
  'test/postgres/workers-killed.campaign.test.ts': {
    times: 2,
    why: 'kills in each interval, and cuts the network for one',
  },
  'test/sleeping.test.ts': { times: 4, why: 'plants them' },
};

const files = ['src', 'test', 'web']
  .flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => /\.(?:test|contract)\.ts$/.test(file) && !file.includes('/node_modules/'));

describe('tests', () => {
  it('do not sleep if they can wait for an event', () => {
    expect(files.length).toBeGreaterThan(300);
    const tooMany = files.flatMap((file) => {
      const found = findSleeping(readFileSync(join(PROJECT, file), 'utf8'));
      return found.length > (ALLOWED[file]?.times ?? 0) ? [`${file}: sleeps in line ${found.join(', ')}`] : [];
    });
    expect(tooMany).toEqual([]);
  });
});

describe('findSleeping', () => {
  it.each([
    ["import { setTimeout as pause } from 'node:timers/promises';\nawait pause(200);", [2]],
    ["import { setTimeout } from 'node:timers/promises';\nit();\nawait setTimeout(5);", [3]],
    ["import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';\nawait sleep(1);", [2]],
    ['await new Promise((resolve) => {\n  setTimeout(resolve, 20);\n});', [2]],
    ['await new Promise((resolve) => {\n  setTimeout(resolve, 0);\n});', []],
    ["import { setImmediate as turn } from 'node:timers/promises';\nawait turn();", []],
    ["const program = 'setTimeout(() => {}, 60000)';", []],
  ])('finds sleeps: %j', (text, lines) => {
    expect(findSleeping(text)).toEqual(lines);
  });
});
