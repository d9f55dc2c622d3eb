import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPidFilter, readPidMark } from './descendants.js';

function start(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}

describe.runIf(process.platform === 'linux')('a mark in the sequence of process ids', () => {
  it('separates processes started before it from processes started after it', () => {
    const before = start();
    const mark = readPidMark();
    const after = start();
    const isAfter = createPidFilter(mark);
    expect(isAfter(after)).toBe(true);
    expect(isAfter(before)).toBe(false);
    expect(isAfter(process.pid)).toBe(false);
  });

  it('treats ids after a wrap-around as later ids', () => {
    const now = readPidMark();
    const isAfter = createPidFilter({ last: (now?.last ?? 0) + 1000, started: now?.started ?? 0 });
    expect(isAfter((now?.last ?? 0) + 1001)).toBe(true);
    expect(isAfter(now?.last ?? 0)).toBe(true);
    expect(isAfter((now?.last ?? 0) + 999)).toBe(false);
  });

  it('includes all processes if it is unknown, or so old that process ids could have wrapped around', () => {
    const now = readPidMark();
    expect(createPidFilter(undefined)(1)).toBe(true);
    expect(createPidFilter({ last: now?.last ?? 0, started: (now?.started ?? 0) - 2 ** 23 })(1)).toBe(true);
  });
});
