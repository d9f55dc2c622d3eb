import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, vi } from 'vitest';

/**
 * By default data, trusted configurations and the local token are in the user's data directory. Each test file gets a
 * separate directory, so no test writes to the real one or finds another test's files.
 */
const folder = mkdtempSync(join(tmpdir(), 'sluice-user-'));
process.env['XDG_DATA_HOME'] = folder;
// Settings of the developer's own Sluice must not affect the tests.
delete process.env['SLUICE_DATA'];
delete process.env['SLUICE_TOKEN'];
// Test repositories need not survive a power failure, and a sync on a busy disk can take as long as a test is allowed
// to.
Object.assign(process.env, { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsync', GIT_CONFIG_VALUE_0: 'none' });
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// Files share a process: a test that times out would leave its fake timers to all later tests.
afterEach(() => void vi.useRealTimers());
