import { join } from 'node:path';
import { vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { describeSharedStore } from '../contract/shared.contract.js';
import { describeStore } from '../contract/store.contract.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 60_000 });

const makeSite = async (): Promise<string> => `sqlite:${join(await makeFolder({}), 'data', 'sluice.db')}`;

describeStore('in SQLite', makeSite);
describeSharedStore('in SQLite', makeSite);
