import { join } from 'node:path';
import { makeFolder } from '../../../test/temporary-folder.js';
import { describeSharedStore } from '../contract/shared.contract.js';
import { describeStore } from '../contract/store.contract.js';

const makeSite = async (): Promise<string> => `sqlite:${join(await makeFolder({}), 'data', 'sluice.db')}`;

describeStore('in SQLite', makeSite);
describeSharedStore('in SQLite', makeSite);
describeStore('in SQLite in memory', async () => 'memory:');
