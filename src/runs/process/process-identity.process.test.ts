import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { canSignal, identifyOwnProcess, identifyProcess, getProcessState } from './process-identity.js';

/** Larger than any process id on Linux. */
const UNUSED_PID = 5_000_000;

describe('a process identity', () => {
  it('is the same each time', async () => {
    expect(await identifyProcess(process.pid)).toEqual(await identifyOwnProcess());
    expect(await getProcessState(await identifyOwnProcess())).toBe('alive');
  });

  it('is undefined for an unused id', async () => {
    expect(await identifyProcess(UNUSED_PID)).toBeUndefined();
    expect(await getProcessState({ pid: UNUSED_PID, started: null })).toBe('gone');
  });

  it('does not match another process with the same id', async () => {
    const own = await identifyOwnProcess();
    expect(own.started).not.toBeNull();
    const earlier = { pid: own.pid, started: `${own.started ?? ''}0` };
    expect(await getProcessState(earlier)).toBe('gone');
  });

  it('has the state gone when the process has exited', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const identity = await identifyProcess(child.pid ?? UNUSED_PID);
    expect(identity && (await getProcessState(identity))).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(identity && (await getProcessState(identity))).toBe('gone');
  });

  it.runIf(process.platform === 'linux')('has an unknown state in another boot or container', async () => {
    const foreign = { pid: process.pid, started: '11111111-2222-3333-4444-555555555555/1/100' };
    expect(await getProcessState(foreign)).toBe('unknown');
  });
});

describe('canSignal', () => {
  it('is true for a process and false for an unused id', () => {
    expect([canSignal(process.pid), canSignal(UNUSED_PID)]).toEqual([true, false]);
  });
});
